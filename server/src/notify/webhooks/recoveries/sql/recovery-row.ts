export type RecoveryRow = {
  id: string;
  endpoint_id: string;
  from_event: string;
  until_event: string;
  position: string;
  checked_count: number;
  queued_count: number;
  is_canceled: boolean;
  created_at: Date;
  finished_at: Date | null;
};

export const recoveryColumns = `id, endpoint_id, from_event, until_event, position, checked_count, queued_count, is_canceled,
  created_at, finished_at`;
