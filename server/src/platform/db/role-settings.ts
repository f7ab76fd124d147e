import pg from 'pg';
import type { Database } from './database.ts';
import { sessionSettings } from './session.ts';

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
export async function ensureRoleSettings(db: Database): Promise<string[]> {
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
