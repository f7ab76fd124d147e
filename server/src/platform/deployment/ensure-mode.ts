import { ConfigError } from '../app-error.ts';
import type { Queryable } from '../db/database.ts';
import { run, single } from '../db/statement.ts';

/** A database keeps its mode forever; otherwise a sandbox process could run live orders on its mock network. */
export async function ensureMode(db: Queryable, mode: 'sandbox' | 'live'): Promise<void> {
  await setIfNone(db, mode);
  const owner = await readMode(db);
  if (owner === mode) return;
  throw new ConfigError(
    `this database belongs to a ${owner} deployment, but SIMPLANE_MODE is ${mode}: set SIMPLANE_MODE=${owner}, or use another database`,
  );
}

const setIfNone = run<[mode: string]>('deployment_claim')`
insert into deployment_mode (mode)
values ($1)
on conflict do nothing`;

const readMode = single<string>('deployment_mode')`
select mode
from deployment_mode`;
