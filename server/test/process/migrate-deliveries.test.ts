import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.ts';
import { listMigrations, migrationsFolder } from '../../src/platform/db/schema-version.ts';
import { createEmptyDatabase } from '../support/database.ts';

/** The migrations of a release that ended with this version. */
async function releaseUpTo(version: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-migrations-'));
  for (const migration of listMigrations(migrationsFolder)) {
    if (migration.version > version) continue;
    await copyFile(new URL(migration.name, migrationsFolder), join(folder, migration.name));
  }
  return folder;
}

const pending = 25_000;

test('every delivery of an earlier release is queued or ended after the migration, with its attempts and its due time', async () => {
  const database = await createEmptyDatabase();
  const folder = await releaseUpTo(8);
  const client = new pg.Client({ connectionString: database.url });
  try {
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) });
    await client.connect();
    await client.query(
      `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, due_at, leased_until, fence,
         created_at, finished_at)
       select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), status, 'event', n % 3,
         timestamptz '2026-01-01' + n * interval '1 second', case when n % 2 = 0 then now() + interval '1 hour' end, n % 5,
         timestamptz '2025-01-01' + n * interval '1 second', case when status <> 'pending' then now() end
       from generate_series(1, $1) n,
         unnest(case when n <= 100 then array['pending', 'succeeded', 'failed', 'canceled'] else array['pending'] end) status`,
      [pending],
    );
    await client.query(
      `insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms, status_code)
       select account_id, id, number, now(), 5, 500 from deliveries, generate_series(1, attempt_count) number`,
    );
    const shown = 'account_id, id, event_id, endpoint_id, origin, attempt_count, created_at';
    await client.query(`create table before as select ${shown}, status, due_at, finished_at from deliveries`);
    await migrate(database.url);
    const count = async (text: string) => (await client.query(text)).rowCount;
    expect(await count(`select from delivery_queue`)).toBe(pending);
    expect(await count(`select from deliveries`)).toBe(300);
    expect(
      await count(`select ${shown}, due_at from before where status = 'pending'
      except select ${shown}, due_at from delivery_queue`),
    ).toBe(0);
    expect(
      await count(`select ${shown}, status, finished_at from before where status <> 'pending'
      except select ${shown}, status, finished_at from deliveries where duration_ms is null`),
    ).toBe(0);
    expect(await count('select from endpoint_leases')).toBe(0);
    expect(await count(`select from delivery_attempts`)).toBeGreaterThan(pending - 10);
  } finally {
    await client.end();
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
