import { forceKeyLookup } from '../db/planner-hints.ts';
import { isHeld } from './held.ts';

/**
 * The one way to end executions, as a piece of SQL that other features' statements carry: moves those that are still held from
 * the queue to the history, without their secrets. `source` has a row each: account_id, execution_id, fence, error (null for a
 * success) and at; `ended` has those that were moved, with all columns of the source and those of the queue as queued_…. `condition` may ask more
 * of their row `q` of the queue.
 */
export function endFrom(source: string, condition = 'true'): string {
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
      finished_at)
    select
      account_id,
      execution_id,
      queued_type,
      case when error is null then 'succeeded' else 'failed' end,
      queued_product_id,
      queued_iccid,
      queued_input - 'sealed_confirmation_code',
      error,
      -- The eSIM of an order that succeeded has the matching id; that of a failed order may still need it to be canceled.
      case when error is null then queued_progress - 'matching_id' else queued_progress end,
      queued_attempts,
      queued_at,
      at
    from ended
  )`;
}
