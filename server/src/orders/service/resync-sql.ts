import { isHere } from '../../accounts/moves/is-here.ts';
import { forceKeyLookup } from '../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { many, one, run, single } from '../../platform/db/statement.ts';
import type { ServedEsim } from './served-esim.ts';
import { servedColumns } from './sql.ts';

export type ResyncRow = { started_at: Date; after_iccid: string; esims: number; finished_at: Date | null };

const resyncColumns = 'started_at, after_iccid, esims, finished_at';

const restart = one<ResyncRow, [at: Date]>('core_resync_restart')`
insert into core_resync (started_at)
values ($1)
on conflict (is_only) do update
set started_at = excluded.started_at,
    after_iccid = '',
    esims = 0,
    finished_at = null
returning ${resyncColumns}`;

export async function restartResync(...args: Parameters<typeof restart>): Promise<ResyncRow> {
  return (await restart(...args)) as ResyncRow;
}

/** Null if none runs, or another process is at it. */
export const lockResync = one<ResyncRow>('core_resync_lock')`
select ${resyncColumns}
from core_resync
where finished_at is null
for update skip locked`;

type Reached = { afterIccid: string; count: number; finishedAt: Date | null };

export const advanceResync = run<[reached: Reached]>(
  'core_resync_advance',
  ({ afterIccid, count, finishedAt }) => [afterIccid, count, finishedAt],
)`
update core_resync
set after_iccid = $1,
    esims = esims + $2,
    finished_at = $3`;

/** Up to `atMost`. */
export const countPending = single<number, [atMost: number]>('core_queue_count_pending')`
select count(*)::integer as count
from (
  select 1
  from core_queue
  where not is_refused
  limit $1
) pending`;

/** In ICCID order, like all who lock several eSIMs. */
export const lockNextEsims = many<ServedEsim, [afterIccid: string, count: number]>('service_lock_next')`
select ${servedColumns}
from esims
where iccid > $1 and ${isHere('esims.account_id')}
order by iccid
limit $2
for update`;

type Again = { account_id: string; id: string; uuid: string; at: Date };

const again = rowsOf<Again>({
  account_id: column.uuid((row) => row.account_id),
  esim_id: column.uuid((row) => row.id),
  queue_id: column.uuid((row) => row.uuid),
  at: column.timestamptz((row) => row.at),
});

/** Queues the eSIMs' states again. One that waits stays as it is, and one that was refused is tried again. */
export const queueAgain = run<[rows: readonly Again[]]>('core_queue_again', again.values)`
insert into core_queue as known (account_id, iccid, id, version, service, since, due_at)
select esims.account_id, esims.iccid, given.queue_id, esims.service_version, esims.service, given.at, now()
from ${again.table} given
join esims on esims.account_id = given.account_id and esims.id = given.esim_id and ${forceKeyLookup('given.n')}
where esims.service is not null
on conflict (account_id, iccid) do update
set id = excluded.id,
    since = excluded.since,
    due_at = excluded.due_at,
    failures = 0,
    error = null,
    is_refused = false
where known.is_refused`;
