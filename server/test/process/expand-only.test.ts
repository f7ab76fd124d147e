import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { migrate } from '../../src/platform/db/migrate.ts';
import { cloneDatabase, createEmptyDatabase } from '../support/database.ts';
import { buildLastRelease } from '../support/last-release.ts';
import { readSchema, schemaHindrances } from '../support/schema-hindrances.ts';

/** What the check cannot judge, and why processes of the last release work with it. */
const accepted: Record<string, string> = {
  'constraint api_keys_of_operators of api_keys is new':
    'It takes every key that the constraint it replaces took, and operators’ keys that may write.',
};

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

async function connect(database: { url: string; drop(): Promise<void> }): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  undo.push(database.drop, () => client.end());
  await client.connect();
  return client;
}

test('migrations since the last release only add, so that its processes work beside this one', async () => {
  const lastRelease = await buildLastRelease();
  undo.push(lastRelease.remove);
  const database = await createEmptyDatabase();
  const client = await connect(database);
  await migrate(database.url, { folder: lastRelease.migrations });
  const before = await readSchema(client);
  await migrate(database.url);
  const found = schemaHindrances(before, await readSchema(client));
  expect(found.filter((one) => !(one in accepted))).toEqual([]);
  expect(Object.keys(accepted).filter((one) => !found.includes(one))).toEqual([]);
});

const changes: [migration: string, hindrance: string | null][] = [
  ['drop table products cascade', 'table products is gone'],
  ['alter table esims drop description', 'column esims.description is gone or has another type'],
  ['alter table esims rename description to note', 'column esims.description is gone or has another type'],
  ['alter table esims alter country type char(2)', 'column esims.country is gone or has another type'],
  ['alter table esims alter description set not null', 'column esims.description is required'],
  ['alter table esims alter profile_state drop default', 'column esims.profile_state is required'],
  ['alter table esims add note text not null', 'column esims.note is required'],
  ['alter table esims add constraint named check (description <> $$$$)', 'constraint named of esims is new'],
  ['create unique index named on esims (description)', 'unique index named of esims is new'],
  ['drop function uuid_v7 cascade', 'function uuid_v7(timestamp with time zone) is gone'],
  ['alter table esims alter product_id drop not null', null],
  ["alter table esims add note text not null default '', add unique (note)", null],
  ['create index other on esims (description); create table notes (text text not null unique)', null],
];

test('the check of migrations finds what a statement of an older process could fail with', async () => {
  const client = await connect(await cloneDatabase());
  const before = await readSchema(client);
  for (const [migration, hindrance] of changes) {
    await client.query('begin');
    await client.query(migration);
    const found = schemaHindrances(before, await readSchema(client));
    await client.query('rollback');
    if (hindrance === null) expect(found, migration).toEqual([]);
    else expect(found, migration).toContain(hindrance);
  }
});
