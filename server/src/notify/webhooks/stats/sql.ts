import { column, rowsOf } from '../../../platform/db/rows.ts';
import { many, run } from '../../../platform/db/statement.ts';

/** Attempts of one endpoint in one hour. */
export type HourCounts = {
  accountUuid: string;
  endpointUuid: string;
  hour: Date;
  succeeded: number;
  failed: number;
  /** Per bucket of `telemetry/histogram.ts`. */
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
export const addHours = run<[hours: HourCounts[]]>('endpoint_hours_add', given.values)`
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
    order by pair.bucket)`;

export type HourRow = {
  hour: Date;
  succeeded_count: number;
  failed_count: number;
  /** As text, because the driver returns arrays of `bigint` as strings. */
  duration_counts: string;
};

/** The endpoint's hours from `from` on, newest first. */
export const readHours = many<HourRow, [range: { accountUuid: string; endpointUuid: string; from: Date }]>(
  'endpoint_hours_read',
  ({ accountUuid, endpointUuid, from }) => [accountUuid, endpointUuid, from],
)`
select hour, succeeded_count, failed_count, array_to_string(duration_counts, ',') as duration_counts
from endpoint_hours
where account_id = $1 and endpoint_id = $2 and hour >= $3
order by hour desc`;
