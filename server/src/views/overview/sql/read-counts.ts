import type { Queryable } from '../../../platform/db/database.ts';
import type { Stage } from '../stages.ts';

/** A sum by hour and stage, or by stage, code and bucket; `code` is empty if the stage was reached. */
export type CountRow =
  | { stage: Stage; hour: Date; isReached: boolean; code: null; bucket: null; count: number }
  | { stage: Stage; hour: null; isReached: null; code: string; bucket: number; count: number };

/** Both sums in one scan. An hour has about 100 rows at most: 8 ms for a day on a busy machine, 200 ms for 31 days. */
export function readCounts(
  db: Queryable,
  accountUuid: string,
  { from, until }: { from: Date; until: Date },
): Promise<CountRow[]> {
  return db.query(
    {
      name: 'overview_read_counts',
      text: `
select stage, hour, code = '' as "isReached", code, bucket, sum(count::float8) as count
from order_counts
where account_id = $1 and hour >= $2 and hour < $3
group by grouping sets ((stage, hour, code = ''), (stage, code, bucket))`,
    },
    [accountUuid, from, until],
  );
}
