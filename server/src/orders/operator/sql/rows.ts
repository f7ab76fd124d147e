import type { ExecutionRow } from '../../executions/present.ts';
import { endedColumns, openColumns } from '../../executions/row-columns.ts';

/** An execution of any account, with what only the operator sees. */
export type AnyExecutionRow = ExecutionRow & {
  account_id: string;
  progress: Record<string, unknown>;
  /** Without the lease of a worker that is gone. */
  leased_until: Date | null;
  failure_group: string | null;
  resolution: ResolutionRow | null;
};

/** As JSON: times are ISO texts. */
export type ResolutionRow = {
  outcome: 'reserved' | 'not_reserved';
  action: 'adopt' | 'cancel' | null;
  iccid: string | null;
  decided_by: { type: 'api_key' | 'operator' | 'command_line'; id: string | null; name: string | null };
  decided_at: string;
  closed_at: string | null;
  error: { code: string; message: string; upstream?: Record<string, string> } | null;
  attempts: number;
};

/** `AnyExecutionRow` from the history. Secrets are left out: only their sealed form is in the progress. */
export const anyEndedColumns = `account_id, ${endedColumns}, progress - 'matching_id' as progress,
  null::timestamptz as leased_until, failure_group,
  case when status = 'failed' then (
    select to_jsonb(r)
    from execution_resolutions r
    where r.account_id = executions.account_id and r.execution_id = executions.id
  ) end as resolution`;

/** `AnyExecutionRow` from the queue. */
export const anyOpenColumns = `account_id, ${openColumns}, progress - 'matching_id' as progress,
  case when leased_until > now() then leased_until end as leased_until, null as failure_group,
  null::jsonb as resolution`;
