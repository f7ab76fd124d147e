import type { Queryable } from '../../platform/db/database.ts';
import type { ExecutionError } from '../executions/runner.ts';
import type { PendingChange } from './served-esim.ts';
import { findRefusal } from './sql.ts';

type Proposed = {
  account_id: string;
  iccid: string;
  applied_version: number | null;
  pending_change: PendingChange | null;
};

/** What the core has said about a proposed change: null if nothing yet. It may have a newer version, which includes the change. */
export async function verdictOf(
  tx: Queryable,
  { account_id, iccid, applied_version, pending_change }: Proposed,
): Promise<{ kind: 'applied' } | { kind: 'refused'; error: ExecutionError } | null> {
  const version = pending_change?.version ?? 0;
  if (applied_version !== null && applied_version >= version) return { kind: 'applied' };
  const refusal = await findRefusal(tx, account_id, iccid, version);
  return refusal && { kind: 'refused', error: { ...refusal, retryable: false } };
}
