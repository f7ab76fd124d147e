import { ConfigError } from '../config/config-error.ts';
import type { Queryable } from '../db/database.ts';
import { claimMode } from './sql.ts';

/** One database is one mode for ever: else a sandbox process could carry out live orders on its mock network. */
export async function ensureMode(db: Queryable, mode: 'sandbox' | 'live'): Promise<void> {
  const owner = await claimMode(db, mode);
  if (owner === mode) return;
  throw new ConfigError(
    `this database belongs to a ${owner} deployment, and SIMPLANE_MODE is ${mode}: set SIMPLANE_MODE=${owner}, or give the ${mode} a database of its own`,
  );
}
