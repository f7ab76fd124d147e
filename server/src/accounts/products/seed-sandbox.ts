import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { sandboxCatalog } from './sandbox-catalog.ts';
import { upsertProducts } from './sql.ts';

/** Adds the sandbox catalog. Existing products are not changed: the operator's own catalog wins. */
export async function seedSandbox(db: Database, clock: Clock): Promise<void> {
  await upsertProducts(db, sandboxCatalog, { now: new Date(clock.nowMs()), overwrite: false });
}
