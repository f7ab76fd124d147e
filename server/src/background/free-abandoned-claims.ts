import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { releaseOrphanedExecutions } from '../executions/worker.ts';
import { describeCause } from '../telemetry/describe-cause.ts';
import { freeAbandonedDeliveries } from '../webhooks/sender/start-sender.ts';

/**
 * Frees what an earlier process held when it died, instead of waiting for the leases to end. Only for the one owner of an
 * embedded database, before it works on anything: elsewhere another process may well be alive.
 */
export async function freeAbandonedClaims(db: Database, log: Logger): Promise<void> {
  try {
    const executions = await releaseOrphanedExecutions(db);
    const deliveries = await freeAbandonedDeliveries(db);
    if (executions + deliveries > 0) {
      log.info({ executions, deliveries }, 'freed what an earlier process held when it ended');
    }
  } catch (error) {
    // The leases end by themselves: no reason not to start.
    log.warn({ cause: describeCause(error) }, 'claims of an earlier process were left to run out');
  }
}
