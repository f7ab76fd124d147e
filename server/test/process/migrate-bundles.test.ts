import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.ts';
import { listMigrations, migrationsFolder } from '../../src/platform/db/schema-version.ts';
import { createEmptyDatabase } from '../support/database.ts';

const bundles = 25_000;
const batch = 10_000;

test('bundles of an earlier release get the countries of their product, also after a kill between two batches', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-migrations-'));
  const database = await createEmptyDatabase();
  const client = new pg.Client({ connectionString: database.url });
  const [filling] = listMigrations(migrationsFolder).filter(({ name }) => name.includes('bundle_countries'));
  const { version = 0, name = '' } = filling ?? {};
  try {
    for (const migration of listMigrations(migrationsFolder)) {
      if (migration.version >= version) continue;
      await copyFile(new URL(migration.name, migrationsFolder), join(folder, migration.name));
    }
    await migrate(database.url, { folder: pathToFileURL(`${folder}/`) });
    await client.connect();
    await client.query(
      `insert into products (id, name, countries, validity_days, price_amount, price_currency, speeds, active, listed, created_at)
       select id, id, countries, 7, 100, 'eur', '{4G}', true, true, now()
       from (values ('de', '{DE}'::text[]), ('us', '{US,CA}')) product (id, countries)`,
    );
    await client.query(
      `insert into bundles (account_id, id, iccid, product_id, status, used_bytes, thresholds, validity_days, created_at)
       select gen_random_uuid(), gen_random_uuid(), n::text, (array['de', 'us', 'gone'])[1 + n % 3], 'active', n, '{}', 7, now()
       from generate_series(1, $1) n`,
      [bundles],
    );
    const count = async (condition: string) => {
      const { rows } = await client.query(
        `select count(*)::integer as count from bundles where ${condition}`,
      );
      return rows[0].count as number;
    };
    // A process that was killed after its first batch.
    await client.query(await readFile(new URL(name, migrationsFolder), 'utf8'));
    expect(await count('countries is not null')).toBe(batch);
    await migrate(database.url);
    expect(await count(`countries is null and product_id <> 'gone'`)).toBe(0);
    expect(await count(`product_id = 'de' and countries = '{DE}'`)).toBe(await count(`product_id = 'de'`));
    expect(await count(`product_id = 'us' and countries = '{US,CA}'`)).toBe(await count(`product_id = 'us'`));
    expect(await count('used_bytes = iccid::bigint')).toBe(bundles);
  } finally {
    await client.end();
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
