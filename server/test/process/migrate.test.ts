import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { startTransactionPooler } from '../support/transaction-pooler.ts';
import { until } from '../support/until.ts';

const lockId = 7_305_124_801;
const first = { '0001_first.sql': 'create table first (id int);' };
const second = { '0002_second.sql': 'create table second (id int);' };
const incompatible = { '0002_second.sql': '-- stop-older-processes\ncreate table second (id int);' };

let database: { url: string; drop(): Promise<void> };
let folders: string[] = [];
let clients: pg.Client[] = [];

beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
  await database.drop();
  [clients, folders] = [[], []];
});

async function writeRelease(files: Record<string, string>): Promise<{ folder: URL; lockTimeoutMs: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-migrations-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { folder: pathToFileURL(`${folder}/`), lockTimeoutMs: 1_000 };
}

async function connectAs(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url, application_name: name });
  clients.push(client);
  await client.connect();
  return client;
}

async function tables(): Promise<string[]> {
  const client = await connectAs('test');
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relname in ('first', 'second') order by 1`,
  );
  return rows.map(({ name }) => name);
}

describe('the migration lock', () => {
  test('is waited for only so long while another session holds it, and the error names that session', async () => {
    const holder = await connectAs('the lock holder');
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [lockId]);
    const waits: string[] = [];
    const options = { ...(await writeRelease(first)), onWait: (message: string) => void waits.push(message) };
    const holderText = `pid ${rows[0]?.pid} ("the lock holder" on a local socket, idle in transaction, since `;
    await expect(migrate(database.url, options)).rejects.toThrow(holderText);
    expect(waits).toEqual([expect.stringContaining(holderText)]);

    const waiting = migrate(database.url, { ...options, lockTimeoutMs: 60_000 });
    await until(
      async () => waits.length,
      (count) => count === 2,
    );
    await holder.query('rollback');
    expect(await waiting).toEqual({ applied: ['0001_first.sql'] });
  });

  test('does not block a process with nothing to migrate, even if a session never gives it up', async () => {
    const options = await writeRelease(first);
    await migrate(database.url, options);
    const stale = await connectAs('simplane migrate');
    await stale.query('select pg_advisory_lock($1)', [lockId]);
    expect(await migrate(database.url, options)).toEqual({ applied: [] });
    await expect(migrate(database.url, await writeRelease({ ...first, ...second }))).rejects.toThrow(
      /not free within 1 s: it is held by pid \d+ \("simplane migrate"/,
    );
  });

  test('ends with the migration behind a transaction pooler, even if the migration fails', async () => {
    const pooler = await startTransactionPooler({ url: database.url, serverCount: 2 });
    try {
      const broken = await writeRelease({ ...first, '0002_second.sql': 'create table first (id int);' });
      await expect(migrate(pooler.url, broken)).rejects.toThrow('migration 0002_second.sql failed');
      expect(await migrate(pooler.url, await writeRelease({ ...first, ...second }))).toEqual({
        applied: ['0002_second.sql'],
      });
      const { rows } = await (await connectAs('test')).query(
        `select pid from pg_locks where locktype = 'advisory' and database =
           (select oid from pg_database where datname = current_database())`,
      );
      expect(rows).toEqual([]);
    } finally {
      await pooler.stop();
    }
  });

  test('makes each migration run once when many processes start at once', async () => {
    const options = { ...(await writeRelease({ ...first, ...second })), lockTimeoutMs: 60_000 };
    const all = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url, options)));
    expect(all.flatMap(({ applied }) => applied).sort()).toEqual(['0001_first.sql', '0002_second.sql']);
  });
});

test('a migration is exempt from the statement timeout of its role', async () => {
  const client = await connectAs('test');
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  await client.query(`alter role current_user in database ${rows[0]?.name} set statement_timeout = '200ms'`);
  const slow = await writeRelease({ '0001_slow.sql': 'select pg_sleep(1);' });
  expect(await migrate(database.url, slow)).toEqual({ applied: ['0001_slow.sql'] });
});

test('the timeouts of a role end neither the build of an index nor the transaction that waits for it', async () => {
  const tables = {
    '0001_first.sql': `create table first (id int);
      create function unhurried(int) returns int language plpgsql immutable as
        $$ begin if current_setting('statement_timeout') <> '0' then raise 'a build has a timeout'; end if; return $1; end $$;
      insert into first values (1);`,
  };
  await migrate(database.url, await writeRelease(tables));
  const client = await connectAs('test');
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await client.query(`alter role current_user in database ${rows[0]?.name} set ${timeout} = '10min'`);
  const more = {
    '0002_index.sql': '-- concurrently\ncreate index concurrently by_id on first (unhurried(id));',
    '0003_waits.sql': `do $$ begin
      if current_setting('idle_in_transaction_session_timeout') <> '0' then raise 'a transaction has a timeout'; end if;
    end $$;`,
  };
  expect(await migrate(database.url, await writeRelease({ ...tables, ...more }))).toEqual({
    applied: Object.keys(more),
  });
});

describe('a migration of a table that a long transaction reads', () => {
  const change = { '0002_change.sql': 'alter table first add column note text;' };

  /** As a backup does for as long as it takes. */
  async function holdTable(): Promise<pg.Client> {
    await migrate(database.url, await writeRelease(first));
    const holder = await connectAs('a backup');
    await holder.query('begin; lock table first in access share mode');
    return holder;
  }

  test('lets other statements pass while it waits, and runs when that transaction is over', async () => {
    const holder = await holdTable();
    const waits: string[] = [];
    const options = {
      ...(await writeRelease({ ...first, ...change })),
      lockTimeoutMs: 240_000,
      onWait: (says: string) => void waits.push(says),
    };
    const running = migrate(database.url, options);
    running.catch(() => {}); // the test awaits it later
    const other = await connectAs('test');
    await other.query(`set statement_timeout = '30s'`);
    await until(
      async () =>
        (await other.query(`select from pg_locks where relation = 'first'::regclass and not granted`))
          .rowCount,
      (count) => count === 1,
    );
    await other.query('select from first');
    const hasWaited = until(
      async () => waits,
      ([says]) =>
        says === 'migration 0002_change.sql waits for a table’s lock, which a long transaction holds',
    );
    await Promise.race([hasWaited, running]); // if it gives up, the test ends at once
    await holder.query('rollback');
    expect(await running).toEqual({ applied: ['0002_change.sql'] });
  });

  test('runs after a deadlock with that transaction, which goes on', async () => {
    const holder = await holdTable();
    await (await connectAs('test')).query('create table second (id int)');
    // So that PostgreSQL ends the migration.
    await holder.query(`set deadlock_timeout = '1h'`);
    const changes = {
      '0002_change.sql': 'alter table second add column a int; alter table first add column b int;',
    };
    const waits: string[] = [];
    const running = migrate(database.url, {
      ...(await writeRelease({ ...first, ...changes })),
      lockTimeoutMs: 240_000,
      onWait: (says) => void waits.push(says),
    });
    running.catch(() => {}); // the test awaits it later
    const other = await connectAs('test');
    const waiting = `select from pg_locks where relation = 'first'::regclass and not granted`;
    await until(
      async () => (await other.query(waiting)).rowCount,
      (count) => count === 1,
    );
    await holder.query('select from second'); // goes on when the migration is rolled back
    await holder.query('rollback');
    expect(await running).toEqual({ applied: ['0002_change.sql'] });
    expect(waits).toHaveLength(1);
  });

  test('gives up after a while, and says what to do', async () => {
    const holder = await holdTable();
    const options = await writeRelease({ ...first, ...change });
    const end = setTimeout(() => void holder.query('rollback'), 60_000); // if it does not give up
    await expect(migrate(database.url, options)).rejects.toThrow(
      'migration 0002_change.sql did not get a table’s lock within 1 s: a long transaction holds it, such as a backup',
    );
    clearTimeout(end);
    await holder.query('rollback');
    expect(await migrate(database.url, options)).toEqual({ applied: ['0002_change.sql'] });
  });
});

describe('a migration incompatible with older processes', () => {
  beforeEach(async () => {
    await migrate(database.url, await writeRelease(first));
  });

  test.each(['simplane', 'simplane signals', 'simplane/1', 'simplane/1 signals'])(
    'is refused while one is connected as "%s", and runs after it disconnects',
    async (name) => {
      const older = await connectAs(name);
      const options = await writeRelease({ ...first, ...incompatible });
      await expect(migrate(database.url, options)).rejects.toThrow(
        `1 of their connections are open: 1 as "${name}" from a local socket. Stop all older processes`,
      );
      expect(await tables()).toEqual(['first']);
      await older.end();
      clients = clients.filter((client) => client !== older);
      expect(await migrate(database.url, options)).toEqual({ applied: ['0002_second.sql'] });
      expect(await tables()).toEqual(['first', 'second']);
    },
  );

  test('runs while newer processes and unrelated clients are connected', async () => {
    await connectAs('simplane/2');
    await connectAs('simplane/10 signals');
    await connectAs('simplanet');
    expect(await migrate(database.url, await writeRelease({ ...first, ...incompatible }))).toEqual({
      applied: ['0002_second.sql'],
    });
  });

  test('runs while older processes use another database, or only migrate or check this one', async () => {
    const other = await createEmptyDatabase();
    const elsewhere = new pg.Client({ connectionString: other.url, application_name: 'simplane/1' });
    await elsewhere.connect();
    await connectAs('simplane/1 migrate');
    await connectAs('simplane/1 check');
    try {
      expect(await migrate(database.url, await writeRelease({ ...first, ...incompatible }))).toEqual({
        applied: ['0002_second.sql'],
      });
    } finally {
      await elsewhere.end();
      await other.drop();
    }
  });

  /** A migration that blocks until the test lets it continue. */
  async function startHeldMigration() {
    const holder = await connectAs('test');
    await holder.query('select pg_advisory_lock(42)');
    const held = {
      '0002_held.sql':
        '-- stop-older-processes\nset local lock_timeout = 0; select pg_advisory_xact_lock(42); create table second (id int);',
    };
    const running = migrate(database.url, await writeRelease({ ...first, ...held }));
    running.catch(() => {}); // the test awaits it later
    await until(
      async () =>
        (
          await holder.query(
            `select from pg_locks where locktype = 'advisory' and not granted and objid = 42`,
          )
        ).rowCount,
      (count) => count === 1,
    );
    return { running, unblock: () => holder.query('select pg_advisory_unlock(42)') };
  }

  test('is rolled back if an older process connects while it runs', async () => {
    const { running, unblock } = await startHeldMigration();
    await connectAs('simplane/1');
    await unblock();
    await expect(running).rejects.toThrow('1 as "simplane/1"');
    expect(await tables()).toEqual(['first']);
  });

  test('makes an older release wait until it is done, and then refuse to start', async () => {
    const { running, unblock } = await startHeldMigration();
    const waits: string[] = [];
    const options = {
      ...(await writeRelease(first)),
      lockTimeoutMs: 60_000,
      onWait: (message: string) => void waits.push(message),
    };
    const older = migrate(database.url, options);
    older.catch(() => {});
    await until(
      async () => waits.length,
      (count) => count === 1,
    );
    await unblock();
    await expect(older).rejects.toThrow('migrated by a newer release (0002_held.sql)');
    expect(await running).toEqual({ applied: ['0002_held.sql'] });
  });
});

test('an older release starts on newer migrations unless one of them forbids it', async () => {
  await migrate(database.url, await writeRelease({ ...first, ...second }));
  expect(await migrate(database.url, await writeRelease(first))).toEqual({ applied: [] });
});

test('a migration that was changed after it ran is refused, and nothing is applied', async () => {
  await migrate(database.url, await writeRelease(first));
  const changed = { '0001_first.sql': 'create table first (id bigint);', ...second };
  await expect(migrate(database.url, await writeRelease(changed))).rejects.toThrow(
    '0001_first.sql was changed',
  );
  expect(await tables()).toEqual(['first']);
});

test('a database migrated by an older release can be migrated further', async () => {
  const client = await connectAs('test');
  await client.query(`create table schema_migrations (version integer primary key, name text not null,
    checksum text not null, applied_at timestamptz not null default now())`);
  expect(await migrate(database.url, await writeRelease(first))).toEqual({ applied: ['0001_first.sql'] });
});

test('an idle process stays visible to migrations', async () => {
  const db = openDatabase({ connectionString: database.url, poolSize: 4, onError: () => {} });
  try {
    await Promise.all(
      Array.from({ length: 4 }, () => db.query({ name: 'sleep', text: 'select pg_sleep(0.2)' })),
    );
    const client = await connectAs('test');
    const names = async () =>
      (
        await client.query<{ name: string }>(
          `select application_name as name from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        )
      ).rows.map(({ name }) => name);
    expect(await names()).toHaveLength(4);
    // The pool closes connections that have been idle for ten seconds, except one.
    const left = await until(names, (found) => found.length < 4);
    expect(
      await until(
        async () => (await names()).length,
        (count) => count === 1,
      ),
    ).toBe(1);
    expect(left[0]).toMatch(/^simplane\/\d+$/);
  } finally {
    await db.end();
  }
});

describe('a migration in batches', () => {
  const move = `-- in-batches: select count(*) from source
with moved as (delete from source where id = any(array(select id from source order by id limit 100)) returning id)
insert into target select id from moved;`;
  const tables = { '0001_first.sql': 'create table source (id int); create table target (id int);' };

  async function prepare(rows: number): Promise<pg.Client> {
    await migrate(database.url, await writeRelease(tables));
    const client = await connectAs('test');
    await client.query('insert into source select generate_series(1, $1)', [rows]);
    return client;
  }

  async function counts(client: pg.Client): Promise<unknown> {
    const { rows } = await client.query(
      'select (select count(*)::int from source) as source, (select count(*)::int from target) as target',
    );
    return rows[0];
  }

  test('runs until it moves no rows, each batch in its own transaction, and reports how long it takes', async () => {
    const client = await prepare(1_050);
    const notices: string[] = [];
    const options = {
      ...(await writeRelease({ ...tables, '0002_move.sql': move })),
      onWait: (says: string) => void notices.push(says),
    };
    expect(await migrate(database.url, options)).toEqual({ applied: ['0002_move.sql'] });
    expect(await counts(client)).toEqual({ source: 0, target: 1_050 });
    expect(notices).toEqual(['migration 0002_move.sql moves 1050 rows, which takes about 1 s']);
    const { rows } = await client.query('select count(distinct xmin::text)::int as transactions from target');
    expect(rows).toEqual([{ transactions: 11 }]);
  });

  test('that is killed continues with the remaining rows', async () => {
    const client = await prepare(1_000);
    // The server terminates the session that tries to move row 550, like a kill between two commits.
    await client.query(`
      create function die() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
      create trigger die after insert on target for each row when (new.id = 550) execute function die()`);
    const options = await writeRelease({ ...tables, '0002_move.sql': move });
    await expect(migrate(database.url, options)).rejects.toThrow();
    expect(await counts(client)).toEqual({ source: 500, target: 500 });
    await client.query('drop trigger die on target');
    expect(await migrate(database.url, options)).toEqual({ applied: ['0002_move.sql'] });
    expect(await counts(client)).toEqual({ source: 0, target: 1_000 });
  });
});

describe('a migration that builds indexes concurrently', () => {
  const tables = { '0001_first.sql': 'create table first (id int);' };
  const build = {
    '0002_index.sql': '-- concurrently\n-- For the list.\ncreate index concurrently by_id on first (id);',
  };

  async function readIndexes(client: pg.Client): Promise<unknown[]> {
    const { rows } = await client.query(
      `select indexrelid::regclass::text as name, indisvalid as valid, pg_get_indexdef(indexrelid) like '%(id)' as by_id
       from pg_index where indrelid = 'first'::regclass`,
    );
    return rows;
  }

  test('lets others write to the table meanwhile, and holds the migration lock', async () => {
    await migrate(database.url, await writeRelease(tables));
    const [writer, other] = [await connectAs('writer'), await connectAs('other')];
    await writer.query('begin; insert into first values (1)');
    const options = await writeRelease({ ...tables, ...build });
    const migrated = migrate(database.url, options);
    const isBuilding = async () =>
      (
        await other.query(
          `select from pg_stat_activity where query like 'create index%' and wait_event_type = 'Lock'`,
        )
      ).rowCount;
    await until(isBuilding, (count) => count === 1);
    await other.query(`set statement_timeout = '5s'`);
    await other.query('insert into first values (2)');
    const { rows } = await other.query('select pg_try_advisory_xact_lock($1) as taken', [lockId]);
    expect(rows).toEqual([{ taken: false }]);
    await writer.query('commit');
    expect(await migrated).toEqual({ applied: ['0002_index.sql'] });
    expect(await readIndexes(other)).toEqual([{ name: 'by_id', valid: true, by_id: true }]);
    expect(await migrate(database.url, options)).toEqual({ applied: [] });
  });

  test('builds an index again that a killed run left incomplete', async () => {
    await migrate(database.url, await writeRelease(tables));
    const client = await connectAs('test');
    await client.query(`create index by_id on first ((id + 1))`);
    await client.query(`update pg_index set indisvalid = false where indexrelid = 'by_id'::regclass`);
    await migrate(database.url, await writeRelease({ ...tables, ...build }));
    expect(await readIndexes(client)).toEqual([{ name: 'by_id', valid: true, by_id: true }]);
  });

  test('takes nothing else', async () => {
    const other = { '0001_first.sql': '-- concurrently\ncreate table first (id int);' };
    await expect(migrate(database.url, await writeRelease(other))).rejects.toThrow('not an index');
  });
});
