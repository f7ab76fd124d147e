import type { Logger } from 'pino';
import { endAbandonedLeases } from '../notify/webhooks/sender/start-sender.ts';
import { releaseOrphanedExecutions } from '../orders/executions/runner.ts';
import type { Database } from '../platform/db/database.ts';
import { describeCause } from '../platform/telemetry/describe-cause.ts';

/**
 * Releases the claims of a dead process instead of waiting for their leases to expire. Only for the sole owner of an embedded
 * database, before it starts any work; on a shared database the other process may still be running.
 */
export async function releaseOrphanedClaims(db: Database, log: Logger): Promise<void> {
  try {
    const executions = await releaseOrphanedExecutions(db);
    const endpoints = await endAbandonedLeases(db);
    if (executions + endpoints > 0) {
      log.info({ executions, endpoints }, 'released the claims of an earlier process');
    }
  } catch (error) {
    // Not fatal, because the leases expire anyway.
    log.warn({ cause: describeCause(error) }, 'claims of an earlier process were not released');
  }
}
