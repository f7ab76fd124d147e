import type { Queryable } from '../../../../platform/db/database.ts';

export type HourRow = {
  hour: Date;
  succeeded_count: number;
  failed_count: number;
  /** As text, because the driver returns arrays of `bigint` as strings. */
  duration_counts: string;
};

/** The endpoint's hours from `from` on, newest first. */
export function readHours(
  db: Queryable,
  { accountUuid, endpointUuid, from }: { accountUuid: string; endpointUuid: string; from: Date },
): Promise<HourRow[]> {
  return db.query(
    {
      name: 'endpoint_hours_read',
      text: `
select hour, succeeded_count, failed_count, array_to_string(duration_counts, ',') as duration_counts
from endpoint_hours
where account_id = $1 and endpoint_id = $2 and hour >= $3
order by hour desc`,
    },
    [accountUuid, endpointUuid, from],
  );
}
