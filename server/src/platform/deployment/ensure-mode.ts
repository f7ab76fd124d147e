import { ConfigError } from '../config-error.ts';
import type { Queryable } from '../db/database.ts';
import { claimMode } from './sql/claim-mode.ts';

/** A database keeps its mode forever; otherwise a sandbox process could run live orders on its mock network. */
export async function ensureMode(db: Queryable, mode: 'sandbox' | 'live'): Promise<void> {
  const owner = await claimMode(db, mode);
  if (owner === mode) return;
  throw new ConfigError(
    `this database belongs to a ${owner} deployment, but SIMPLANE_MODE is ${mode}: set SIMPLANE_MODE=${owner}, or use another database`,
  );
}
