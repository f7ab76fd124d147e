import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { missingRoleSettings } from '../../src/platform/db/prepare-database.ts';
import { sessionSettings } from '../../src/platform/db/session.ts';
import { cloneDatabase } from '../support/database.ts';

test('behind a pooler, a role lacks what it has in another database only', async () => {
  const [own, other] = [await cloneDatabase(), await cloneDatabase()];
  onTestFinished(async () => {
    await own.drop();
    await other.drop();
  });
  const open = ({ url }: { url: string }) => {
    const db = openDatabase({ connectionString: url, poolSize: 1, onError: () => {} });
    onTestFinished(() => db.end());
    return db;
  };
  const [mine, theirs] = [open(own), open(other)];
  const names = Object.keys(sessionSettings);
  expect(await missingRoleSettings(mine)).toEqual(names);
  const { rows } = await theirs.pool.query('select current_database() as name');
  for (const name of names)
    await theirs.pool.query(
      `alter role current_user in database ${rows[0].name} set ${name} = '${sessionSettings[name]}'`,
    );
  expect([await missingRoleSettings(theirs), await missingRoleSettings(mine)]).toEqual([[], names]);
});
