import { isHere } from '../../accounts/moves/is-here.ts';
import { emitFrom } from '../../notify/events/emit.ts';
import type { NewEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { many, one, single } from '../../platform/db/statement.ts';
import { dueAt, hasBatch, indexedBatch } from '../executions/sql-parts.ts';

/** A batch as the API shows it. */
export type BatchRow = {
  id: string;
  product_id: string | null;
  total: number;
  succeeded: number;
  failed: number;
  canceled: number;
  open: number;
  created_at: Date;
  finished_at: Date | null;
};

type NewBatch = Pick<BatchRow, 'id' | 'product_id' | 'total' | 'created_at'>;
type NewOrder = { uuid: string; productId: string; input: object };

const orders = rowsOf<NewOrder>(
  {
    id: column.uuid((row) => row.uuid),
    product_id: column.text((row) => row.productId),
    input: column.text((row) => JSON.stringify(row.input)),
  },
  6,
);

const insert = {
  name: 'batch_insert',
  text: `
with batch as (
  insert into batches (account_id, id, product_id, total, created_at)
  values ($1, $2, $3, $4, $5)
)
insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at)
select $1, id, 'esim.provision', product_id, input::jsonb || jsonb_build_object('batch_id', $2::uuid), $5, ${dueAt('product_id')}
from ${orders.table} given
order by n`,
};

/** Stores a batch and its orders in one statement. */
export async function insertBatch(
  tx: Queryable,
  accountUuid: string,
  { id, product_id, total, created_at }: NewBatch,
  rows: NewOrder[],
): Promise<void> {
  await tx.query(insert, [accountUuid, id, product_id, total, created_at, ...orders.values(rows)]);
}

/** SQL: the orders of `batch` in a table of executions. */
const ofBatch = `account_id = batch.account_id and ${indexedBatch} = batch.id::text collate "C" and ${hasBatch}`;

/**
 * SQL: `BatchRow`s of the batches that `batch` selects. One statement, so one snapshot: an order is either open or ended, and a failed
 * one that the operator has started again is counted as its successor.
 */
const withCounts = (batch: string) => `
select batch.id, batch.product_id, batch.total, batch.created_at, batch.finished_at, ended.*, waiting.*
from (${batch}) batch
cross join lateral (
  select
    count(*) filter (where status = 'succeeded')::integer as succeeded,
    count(*) filter (where status = 'failed' and retried_by is null)::integer as failed,
    count(*) filter (where error ->> 'code' = 'canceled' and retried_by is null)::integer as canceled
  from executions
  where ${ofBatch}
) ended
cross join lateral (
  select count(*)::integer as open
  from execution_queue
  where ${ofBatch}
) waiting`;

const columns = 'account_id, id, product_id, total, created_at, finished_at';

export const findBatch = one<BatchRow, [accountUuid: string, uuid: string]>('batch_find')`
${withCounts(`select ${columns} from batches where account_id = $1 and id = $2`)}`;

type Range = { beforeUuid: string; fromUuid: string };

export const listBatchRows = many<BatchRow, [accountUuid: string, range: Range, count: number]>(
  'batch_list',
  (accountUuid, { beforeUuid, fromUuid }, count) => [accountUuid, beforeUuid, fromUuid, count],
)`
${withCounts(`
  select ${columns}
  from batches
  where account_id = $1 and id < $2 and id >= $3
  order by id desc
  limit $4`)}
order by batch.id desc`;

export const countUnfinished = single<number, [accountUuid: string]>('batch_count_unfinished')`
select count(*)::integer as count
from batches
where account_id = $1 and finished_at is null`;

type Finishable = BatchRow & { account_id: string };

/**
 * Locks a batch of any account whose orders have all ended. Another process that finishes it has its lock, or has set `finished_at`,
 * which is checked again after the lock.
 */
export const lockFinishable = one<Finishable, [after: string]>('batch_lock_finishable')`
with locked as materialized (
  select ${columns}
  from batches batch
  where finished_at is null
    and id > $1
    and ${isHere('batch.account_id')}
    and not exists (select from execution_queue where ${ofBatch})
  order by id
  limit 1
  for update skip locked
)
select counted.*, locked.account_id
from locked
cross join lateral (${withCounts('select locked.*')}) counted`;

/** Finishes a batch and writes its event. The caller has locked it. */
export const finishBatch = one<object, [batch: Finishable, at: Date, event: NewEvent]>(
  'batch_finish',
  (batch, at, event) => [
    ...[batch.account_id, batch.id, at],
    ...[event.uuid, event.type, event.createdAt, event.body, event.subscriptions],
  ],
)`
with finished as (
  update batches
  set finished_at = $3
  where account_id = $1 and id = $2 and finished_at is null
  returning account_id, $4::uuid as event_id, $5::text as event_type, $6::timestamptz as event_at, $7::text as event_body,
    $8::text as event_subscriptions
), ${emitFrom('finished')}
select 1
from finished`;

export type InstallableRow = {
  iccid: string;
  execution_id: string;
  product_id: string;
  reference: string | null;
  smdp_address: string;
  /** Sealed. */
  matching_id: string;
  confirmation_code_required: boolean;
};

/** The eSIMs of a batch that can be installed, in the order of the batch. An eSIM has the id of its order. */
export const listInstallable = many<InstallableRow, [accountUuid: string, batchUuid: string]>(
  'batch_list_installable',
)`
select iccid, execution_id, product_id, reference, smdp_address, matching_id, confirmation_code_required
from (
  select id
  from executions
  where account_id = $1 and ${indexedBatch} = $2::uuid::text and ${hasBatch} and status = 'succeeded'
) succeeded
cross join lateral (
  select *
  from esims
  where account_id = $1 and id = succeeded.id and status in ('provisioned', 'active', 'suspended')
  offset 0
) esim
order by esim.id`;
