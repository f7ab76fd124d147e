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
  /** The failed execution that it repeats or continues, as a uuid. */
  retry_of: string | null;
  /** The execution that was started in its place, as a uuid. */
  retried_by: string | null;
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

/** `ClaimedExecution` from the queue `q`, without the profile type. */
export const claimedColumns =
  'q.account_id, q.id, q.type, q.product_id, q.iccid, q.input, q.progress, q.attempts, q.fence, q.is_terminated';

/** Proves to a statement that the caller holds the execution. */
export type Fenced = Pick<ClaimedExecution, 'account_id' | 'id' | 'fence'>;
