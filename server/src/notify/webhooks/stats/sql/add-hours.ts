import type { Queryable } from '../../../../platform/db/database.ts';
import { column, rowsOf } from '../../../../platform/db/rows.ts';

/** Attempts of one endpoint in one hour. */
export type HourCounts = {
  accountUuid: string;
  endpointUuid: string;
  hour: Date;
  succeeded: number;
  failed: number;
  /** Per bucket of `histogram.ts`. */
  durations: number[];
};

const given = rowsOf<HourCounts>({
  account_id: column.uuid((one) => one.accountUuid),
  endpoint_id: column.uuid((one) => one.endpointUuid),
  hour: column.timestamptz((one) => one.hour),
  succeeded_count: column.bigint((one) => one.succeeded),
  failed_count: column.bigint((one) => one.failed),
  duration_counts: column.text((one) => `{${one.durations.join(',')}}`),
});

/** Adds to what all processes have counted. */
export async function addHours(db: Queryable, hours: HourCounts[]): Promise<void> {
  await db.query(
    {
      name: 'endpoint_hours_add',
      text: `
insert into endpoint_hours as known
  (account_id, endpoint_id, hour, succeeded_count, failed_count, duration_counts)
select account_id, endpoint_id, hour, succeeded_count, failed_count, duration_counts::bigint[]
from ${given.table} given
-- The same order in every process, so that two cannot deadlock.
order by account_id, endpoint_id, hour
on conflict (account_id, endpoint_id, hour) do update
set succeeded_count = known.succeeded_count + excluded.succeeded_count,
  failed_count = known.failed_count + excluded.failed_count,
  duration_counts = array(
    select coalesce(pair.known, 0) + coalesce(pair.added, 0)
    from unnest(known.duration_counts, excluded.duration_counts) with ordinality as pair (known, added, bucket)
    order by pair.bucket)`,
    },
    given.values(hours),
  );
}
