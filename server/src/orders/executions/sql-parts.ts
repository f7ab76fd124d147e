import { heldProduct } from '@simplane/contract';
import { forceKeyLookup } from '../../platform/db/planner-hints.ts';

/**
 * The condition of every write by a worker, on a queue row: no later claim has incremented the fence, and the lease was not
 * released.
 */
export function isHeld(row: string, fence: string): string {
  return `${row}.fence = ${fence} and ${row}.leased_until is not null`;
}

/** SQL: takes a row from a worker that is gone. The higher fence stops the writes of one that was only frozen. */
export const freeFromHolder = `leased_until = null,
      progress = progress - 'waiting_for',
      fence = fence + 1`;

/** The values of such a write: the row's key and the claim's fence are `$1` to `$3`. */
export function heldValues({ account_id, id, fence }: Fenced): unknown[] {
  return [account_id, id, fence];
}

/** Proves to a statement that the caller holds the execution. */
export type Fenced = { account_id: string; id: string; fence: number };

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
      at${mayFail ? `,\n      case when error ->> 'code' not in ('canceled', 'superseded') then ${failureGroupOf('error', `(${failedProgress})`)} end` : ''}
    from ended
  )`;
}

/**
 * SQL for the id of a failure's group, derived from the error's code, the network that was called and the network's own code.
 * `error` is an execution's error, or the last error of one that waits; migration 0022 has the same expression.
 */
export function failureGroupOf(error: string, progress: string): string {
  return `'fg_' || left(encode(sha256(convert_to(concat_ws(chr(10),
        ${error} ->> 'code',
        coalesce(${networkOf(progress)}, ''),
        coalesce(${upstreamCodeOf(error)}, '')), 'UTF8')), 'hex'), 24)`;
}

/** SQL for the host of the network that an execution last failed at. */
export function networkOf(progress: string): string {
  return `${progress} #>> '{last_error,network}'`;
}

/** SQL for the network's own code, such as `8.2.5/3.7` or `HTTP 503`. */
export function upstreamCodeOf(error: string): string {
  return `coalesce(
          (${error} #>> '{upstream,subject_code}') || '/' || coalesce(${error} #>> '{upstream,reason_code}', ''),
          'HTTP ' || (${error} #>> '{upstream,status}'))`;
}

/** SQL: the reference of an execution, in the queue or the history, as its index stores it. */
export const indexedReference = `((input ->> 'reference') collate "C")`;

/** SQL: what the partial indexes of references require. */
export const hasReference = `input ->> 'reference' is not null`;

/** SQL: the batch of an execution, in the queue or the history, as its index stores it. */
export const indexedBatch = `((input ->> 'batch_id') collate "C")`;

/** SQL: what the partial indexes of batches require. */
export const hasBatch = `input ->> 'batch_id' is not null`;

/** SQL: when an accepted execution may start. */
export function dueAt(productId: string): string {
  return `case when ${isHeldProduct(productId)} then now() + interval '${heldProduct.seconds} seconds' else now() end`;
}

function isHeldProduct(productId: string): string {
  return `${productId} = '${heldProduct.id}'`;
}

/** `ExecutionRow` from the history. */
export const endedColumns = `id, type, status, product_id, iccid, input ->> 'reference' as reference, input -> 'price' as price,
  error, attempts, created_at, finished_at,
  null as waiting_for, null::timestamptz as next_attempt_at, input ->> 'retry_of' as retry_of, retried_by,
  input ->> 'batch_id' as batch_id`;

/** `ExecutionRow` from the queue. A row that was never claimed is queued, any other is running. */
export const openColumns = `id, type, case when attempts = 0 then 'queued' else 'running' end as status, product_id, iccid,
  input ->> 'reference' as reference, input -> 'price' as price, null::jsonb as error, attempts, created_at,
  null::timestamptz as finished_at,
  case
    when leased_until > now() then null
    when leased_until is not null then 'takeover'
    when attempts = 0 and ${isHeldProduct('product_id')} and due_at > now() then 'held'
    else coalesce(progress ->> 'waiting_for', 'worker')
  end as waiting_for,
  case when leased_until > now() then null else greatest(due_at, leased_until) end as next_attempt_at,
  input ->> 'retry_of' as retry_of, null::uuid as retried_by, input ->> 'batch_id' as batch_id`;
