import pg from 'pg';
import { ConfigError } from '../app-error.ts';
import type { Connection } from './connect.ts';
import type { Database, Queryable } from './database.ts';
import { migrate } from './migrate.ts';
import { sessionSettings } from './session.ts';
import { run, single } from './statement.ts';

/** Migrates the schema and, behind a pooler, stores the role's settings. */
export async function prepareDatabase(
  { db, connectionString, isPooled }: Pick<Connection, 'db' | 'connectionString' | 'isPooled'>,
  onNotice: (says: string) => void,
): Promise<{ applied: string[] }> {
  const { applied } = await migrate(connectionString, { onWait: onNotice });
  if (isPooled) await storeRoleSettings(db, onNotice);
  return { applied };
}

async function storeRoleSettings(db: Connection['db'], onNotice: (says: string) => void): Promise<void> {
  const stored = await ensureRoleSettings(db).catch((error: Error) => {
    onNotice(`could not store the role’s settings (${error.message}); \`doctor\` lists the missing ones`);
    return [];
  });
  if (stored.length > 0) {
    onNotice(
      `stored ${stored.join(', ')} with the role for this database; the pooler’s open connections use them after a reconnect (PgBouncer: RECONNECT)`,
    );
  }
}

/** The settings that the current role lacks in this database. Values set by an operator count as present. */
export async function missingRoleSettings(db: Database): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string }>(
    `select split_part(setting, '=', 1) as name
     from pg_db_role_setting, unnest(setconfig) as setting
     where setdatabase = (select oid from pg_database where datname = current_database())
       and setrole = (select oid from pg_roles where rolname = current_user)`,
  );
  const present = new Set(rows.map(({ name }) => name));
  return Object.keys(sessionSettings).filter((name) => !present.has(name));
}

/**
 * Stores the session settings with the role, for this database only, because session state does not last behind a transaction
 * pooler. A role may always do this for itself. Returns the names of the stored settings.
 */
async function ensureRoleSettings(db: Database): Promise<string[]> {
  const missing = await missingRoleSettings(db);
  const { rows } = await db.pool.query<{ database: string }>('select current_database() as database');
  const database = pg.escapeIdentifier(rows[0]?.database ?? '');
  for (const name of missing) {
    const value = pg.escapeLiteral(sessionSettings[name] ?? '');
    try {
      await db.pool.query(`alter role current_user in database ${database} set ${name} = ${value}`);
    } catch (error) {
      // Another process may have stored it at the same moment ("tuple concurrently updated").
      if ((await missingRoleSettings(db)).includes(name)) throw error;
    }
  }
  return missing;
}

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
