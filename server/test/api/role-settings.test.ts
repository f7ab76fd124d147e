import { expect, onTestFinished, test } from 'vitest';
import { examineConnection } from '../../src/commands/examine-connection.ts';
import type { Config } from '../../src/config/settings.ts';
import type { Connection } from '../../src/platform/db/connect.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { missingRoleSettings, prepareDatabase } from '../../src/platform/db/prepare-database.ts';
import { sessionSettings } from '../../src/platform/db/session.ts';
import { cloneDatabase } from '../support/database.ts';

function open(connectionString: string): Database {
  const db = openDatabase({ connectionString, poolSize: 1, onError: () => {} });
  onTestFinished(() => db.end());
  return db;
}

/** What `doctor` says of the role. */
async function examine(db: Database) {
  const config = { databaseDirectUrl: null } as Config;
  return (await examineConnection({ db, isPooled: true } as Connection, config))[0];
}

test('behind a pooler, a role lacks what it has in another database only', async () => {
  const [own, other] = [await cloneDatabase(), await cloneDatabase()];
  onTestFinished(async () => {
    await own.drop();
    await other.drop();
  });
  const [mine, theirs] = [open(own.url), open(other.url)];
  const names = Object.keys(sessionSettings);
  expect(await missingRoleSettings(mine)).toEqual(names);
  const { rows } = await theirs.pool.query('select current_database() as name');
  for (const name of names)
    await theirs.pool.query(
      `alter role current_user in database ${rows[0].name} set ${name} = '${sessionSettings[name]}'`,
    );
  expect([await missingRoleSettings(theirs), await missingRoleSettings(mine)]).toEqual([[], names]);
  expect([await examine(theirs), await examine(mine)]).toMatchObject([
    { check: 'pooler', verdict: 'ok' },
    { check: 'pooler', verdict: 'warning', says: expect.stringContaining(names.join(', ')) },
  ]);
});

test('a process starts behind a pooler although its settings cannot be stored with the role, and says so', async () => {
  const { url, drop } = await cloneDatabase();
  onTestFinished(drop);
  const db = open(url);
  await db.pool.query('set default_transaction_read_only = on'); // of its only connection
  const said: string[] = [];
  const connection = { db, connectionString: url, isPooled: true };
  expect(await prepareDatabase(connection, (says) => void said.push(says))).toEqual({ applied: [] });
  expect(said).toEqual([expect.stringMatching(/^could not store the role’s settings .*ALTER ROLE/)]);
});
