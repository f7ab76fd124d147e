import type { Queryable } from '../../../../platform/db/database.ts';

type ReportRule = { failingBefore: Date; minFailures: number; count: number };

export type HealthReport = {
  account_id: string;
  id: string;
  url: string;
  /** What to report: `failing`, or null for recovered. */
  reported_health: 'failing' | null;
  failing_since: Date | null;
  failure_count: number;
  last_error: string | null;
};

// Repeats the predicate of the index, so that the statement reads only the endpoints that are in it.
const isToReport = `(reported_health = 'recovered'
    or failing_since is not null and (reported_health is null or reported_health = 'enabled'))`;

/** Marks endpoints as reported and returns them. The caller writes the events in the same transaction. */
export function takeHealthReports(tx: Queryable, rule: ReportRule): Promise<HealthReport[]> {
  return tx.query(
    {
      name: 'endpoint_take_health_reports',
      text: `
with due as (
  select account_id, id
  from webhook_endpoints
  where status = 'enabled' and ${isToReport}
    and (reported_health = 'recovered' or failing_since <= $1 and failure_count >= $2)
  limit $3
  for no key update skip locked
)
update webhook_endpoints e
set reported_health = case when e.reported_health = 'recovered' then null else 'failing' end
from due
where e.account_id = due.account_id and e.id = due.id
returning e.account_id, e.id, e.url, e.reported_health, e.failing_since, e.failure_count, e.last_error`,
    },
    [rule.failingBefore, rule.minFailures, rule.count],
  );
}
