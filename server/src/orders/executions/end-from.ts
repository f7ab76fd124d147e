import { forceKeyLookup } from '../../platform/db/planner-hints.ts';
import { failureGroupOf } from './failure-group.ts';
import { isHeld } from './held.ts';

type Options = {
  /** An additional condition on the queue's row `q`. */
  condition?: string;
  /** `source` may have errors. Then it also has `noted`, which is added to the progress of a failed execution. */
  mayFail?: boolean;
};

/**
 * CTEs that end executions; every statement that ends one uses them. They move executions that are still held from the queue to
 * the history, without their secrets. `source` has one row per execution: account_id, execution_id, fence, error (null for a
 * success) and at. `ended` has the moved rows: the columns of `source`, and the queue's as queued_….
 */
export function endFrom(source: string, { condition = 'true', mayFail = false }: Options = {}): string {
  const failedProgress = mayFail ? 'queued_progress || noted' : 'queued_progress';
  return `
  ended as (
    delete from execution_queue q
    using ${source} source
    where q.account_id = source.account_id
      and q.id = source.execution_id
      and ${isHeld('q', 'source.fence')}
      and ${forceKeyLookup('source.fence')}
      and ${condition}
    returning
      source.*,
      q.type as queued_type,
      q.product_id as queued_product_id,
      q.iccid as queued_iccid,
      q.input as queued_input,
      q.progress as queued_progress,
      q.attempts as queued_attempts,
      q.observed as queued_observed,
      q.created_at as queued_at
  ), history as (
    insert into executions (account_id, id, type, status, product_id, iccid, input, error, progress, attempts, created_at,
      finished_at${mayFail ? ', failure_group' : ''})
    select
      account_id,
      execution_id,
      queued_type,
      case when error is null then 'succeeded' else 'failed' end,
      queued_product_id,
      queued_iccid,
      queued_input - 'sealed_confirmation_code',
      error,
      -- After a success the eSIM has the matching id. After a failure the order keeps it, to cancel the profile later.
      case when error is null then queued_progress - 'matching_id' else ${failedProgress} end,
      queued_attempts,
      queued_at,
      at${mayFail ? `,\n      case when error ->> 'code' <> 'canceled' then ${failureGroupOf('error', `(${failedProgress})`)} end` : ''}
    from ended
  )`;
}
