import type { Execution, ExecutionStatus, ExecutionType } from '@simplane/contract';

export type ExecutionError = NonNullable<Execution['error']>;

/** An open or ended execution as the API shows it. */
export type ExecutionRow = {
  id: string;
  type: ExecutionType;
  status: ExecutionStatus;
  product_id: string | null;
  iccid: string | null;
  error: ExecutionError | null;
  attempts: number;
  created_at: Date;
  finished_at: Date | null;
  /** A cause of `waiting-for.ts`; null while a worker holds it and once it has ended. */
  waiting_for: string | null;
  next_attempt_at: Date | null;
};

/** An execution held by one worker. `fence` proves the claim: every later claim has a higher one. */
export type ClaimedExecution = {
  account_id: string;
  id: string;
  type: ExecutionType;
  product_id: string;
  iccid: string | null;
  input: Record<string, unknown>;
  progress: Record<string, unknown>;
  attempts: number;
  fence: number;
  /** The eSIM was terminated while it was being provisioned. */
  is_terminated: boolean;
  /** The product's profile type in the catalog at the time of the claim. */
  profile_type: string | null;
};

/** Proves to a statement that the caller holds the execution. */
export type Fenced = Pick<ClaimedExecution, 'account_id' | 'id' | 'fence'>;

/** `ExecutionRow` from the history. */
export const endedColumns = `id, type, status, product_id, iccid, error, attempts, created_at, finished_at,
  null as waiting_for, null::timestamptz as next_attempt_at`;

/** `ExecutionRow` from the queue. A row that was never claimed is queued, any other is running. */
export const openColumns = `id, type, case when attempts = 0 then 'queued' else 'running' end as status, product_id, iccid,
  null::jsonb as error, attempts, created_at, null::timestamptz as finished_at,
  case
    when leased_until > now() then null
    when leased_until is not null then 'takeover'
    else coalesce(progress ->> 'waiting_for', 'worker')
  end as waiting_for,
  case when leased_until > now() then null else greatest(due_at, leased_until) end as next_attempt_at`;
