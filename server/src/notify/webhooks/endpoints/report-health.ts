import { unixSeconds } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Announcing } from '../../../platform/db/signals.ts';
import type { TimeAndIds } from '../../../platform/ids/uuid-v7.ts';
import { emitToOthers } from '../../events/emit.ts';
import { newEvent } from '../../events/new-event.ts';
import { aboutEndpoint } from './present.ts';
import { type HealthReport, takeHealthReports } from './sql/health.ts';

type Deps = TimeAndIds & Announcing;

/** Counted from the first failure since a success. Both must hold, so one burst of failures is not enough. */
export type FailureRule = { afterMs: number; minFailures: number };

const batchSize = 100;

/**
 * A chore: writes `webhook_endpoint.failing` and `.recovered`. A sender only stores the endpoint's health, so a sender that is
 * killed loses no event. The mark and the event commit together, so each is written once however many processes run this.
 */
export async function reportHealth(
  db: Database,
  deps: Deps,
  rule: FailureRule,
  stopping?: AbortSignal,
): Promise<void> {
  while (!stopping?.aborted) {
    const reports = await db.transaction(async (tx) => {
      const failingBefore = new Date(deps.clock.nowMs() - rule.afterMs);
      const { minFailures } = rule;
      const taken = await takeHealthReports(tx, { failingBefore, minFailures, count: batchSize });
      await emitToOthers(
        tx,
        taken.map((report) => ({ event: eventOf(report, deps), exceptEndpointUuid: report.id })),
      );
      return taken;
    });
    for (const accountUuid of new Set(reports.map(({ account_id }) => account_id))) {
      deps.signals.announce('deliveries', accountUuid);
    }
    if (reports.length < batchSize) return;
  }
}

function eventOf(report: HealthReport, deps: Deps) {
  const accountUuid = report.account_id;
  const about = aboutEndpoint(report);
  if (report.reported_health === null || report.failing_since === null) {
    return newEvent(deps, { accountUuid, type: 'webhook_endpoint.recovered', data: about });
  }
  const { failing_since, failure_count, last_error } = report;
  const data = { ...about, failing_since: unixSeconds(failing_since), failure_count, last_error };
  return newEvent(deps, { accountUuid, type: 'webhook_endpoint.failing', data });
}
