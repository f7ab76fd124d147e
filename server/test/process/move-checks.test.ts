import { randomBytes, randomUUID } from 'node:crypto';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createServer, type PostgresServer } from '../../../faults/src/deployment/postgres-server.ts';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { storeAccount } from '../../src/accounts/store-account.ts';
import { checkCells, checkLabels } from '../../src/commands/move/check.ts';
import { moveAccountCommand } from '../../src/commands/move/move.ts';
import type { Moving } from '../../src/commands/move/parts.ts';
import { requireThisMove, setState } from '../../src/commands/move/state.ts';
import { carried, cellsOwn, replicated } from '../../src/commands/move/tables.ts';
import type { Tools } from '../../src/commands/with-database.ts';
import { firstSerialOf } from '../../src/orders/esims/iccid.ts';
import { type Database, openDatabase, type Queryable } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { createUuidV7 } from '../../src/platform/ids/uuid-v7.ts';
import { inThisProcess } from '../support/in-this-process.ts';

type Cell = { server: PostgresServer; db: Database };

let source: Cell;
/** Its PostgreSQL need not be able to send changes, only to take them. */
let target: Cell;
beforeAll(async () => {
  [source, target] = await Promise.all([startCell('logical'), startCell('replica')]);
});
afterAll(async () => {
  for (const { db, server } of [source, target]) {
    await db.end();
    await server.remove();
  }
});

async function startCell(walLevel: string): Promise<Cell> {
  const server = await createServer({
    ...{ wal_level: walLevel, max_wal_senders: '10' },
    // PostgreSQL waits as long between copies of tables, 5 s by default.
    wal_retrieve_retry_interval: '100ms',
  });
  await server.start();
  await server.query('postgres', 'create database cell');
  await migrate(server.url('cell'));
  const db = openDatabase({ connectionString: server.url('cell'), poolSize: 4, onError: () => {} });
  return { server, db };
}

/** The ids of the keys with which the cells encrypt. */
const keys = { source: '0000000a', target: '0000000b' };
const accountUuid = randomUUID();
const check = (from = source.db, to = target.db) => checkCells(from, to, accountUuid);

/** A process of a cell, that was seen this long ago. */
async function reportIn({ db }: Cell, report: object, secondsAgo = 0): Promise<void> {
  await db.pool.query(
    `insert into processes (id, role, version, host, pid, started_at, seen_at, report)
     values ($1, 'all', '1', 'node-7', 1, now(), now() - $2 * interval '1 second', $3)`,
    [randomUUID(), secondsAgo, JSON.stringify(report)],
  );
}

const range = (first: number, size: number) => [{ first: `8999${String(first).padStart(8, '0')}`, size }];

/** Two cells of one release, between which accounts may be moved. */
async function makeAlike(): Promise<void> {
  for (const { db } of [source, target])
    await db.pool.query(
      `truncate deployment_mode, processes, sealing_keys, products, esims, bundles, execution_queue`,
    );
  for (const { db } of [source, target])
    await db.pool.query(`insert into deployment_mode (mode) values ('sandbox')`);
  await source.db.pool.query('insert into sealing_keys (id) values ($1)', [keys.source]);
  await reportIn(source, { cell: 'eu', iccid_ranges: range(1_000, 100) });
  await reportIn(target, {
    cell: 'us',
    encryption_keys: [keys.target, keys.source],
    iccid_ranges: range(2_000, 100),
  });
}

/** Puts a product into the target’s catalog. */
function offer(id: string) {
  return target.db.pool.query(
    `insert into products (id, name, countries, validity_days, price_amount, price_currency, speeds, active, listed, created_at)
     values ($1, $1, '{}', 7, 1, 'eur', '{}', true, true, now())`,
    [id],
  );
}

describe('a move between two cells', () => {
  beforeEach(makeAlike);

  test('may begin if both are alike, and learns the label of the other one from its processes', async () => {
    expect(await check()).toMatchObject({ cell: 'us' });
  });

  test('does not begin where the other cell reports this cell’s label', async () => {
    const clock = { nowMs: () => Date.now() };
    const deps = { clock, newUuid: createUuidV7(clock) };
    const { id } = await storeAccount(source.db, deps, 'Tenant');
    const tools = { ...commandLine, ...deps, db: source.db, cell: 'us', connectionString: '' };
    const moving = moveAccountCommand(tools as unknown as Tools, idOfUuid(idPrefixes.account, id), {
      to: target.server.url('cell'),
      undo: false,
    });
    await expect(moving).rejects.toThrow('both cells have the same label');
    expect((await source.db.pool.query('select from account_moves')).rows).toEqual([]);
  });

  test('needs two databases', async () => {
    await expect(check(source.db, source.db)).rejects.toThrow('--to is the database of this cell');
  });

  test('can go to another database of the same server', async () => {
    await source.server.query('postgres', 'create database other');
    const other = openDatabase({
      connectionString: source.server.url('other'),
      poolSize: 1,
      onError: () => {},
    });
    await migrate(source.server.url('other'));
    await other.pool.query(`insert into deployment_mode (mode) values ('sandbox')`);
    await expect(check(source.db, other)).rejects.toThrow('no process of the other cell is running');
    await other.end();
  });

  test('needs row filters in both', async () => {
    const old: Database = {
      ...target.db,
      query: async (statement, values) =>
        (await target.db.query(statement, values)).map((row) =>
          'major' in row ? { ...row, major: 14 } : row,
        ) as never,
    };
    await expect(check(source.db, old)).rejects.toThrow('both cells need PostgreSQL 15 or newer');
    await expect(check(old, source.db)).rejects.toThrow('both cells need PostgreSQL 15 or newer');
  });

  test('takes the first release with row filters', async () => {
    const first: Database = {
      ...target.db,
      query: async (statement, values) =>
        (await target.db.query(statement, values)).map((row) =>
          'major' in row ? { ...row, major: 15 } : row,
        ) as never,
    };
    expect(await check(source.db, first)).toMatchObject({ cell: 'us' });
  });

  test('needs the changes of the cell it leaves', async () => {
    await expect(check(target.db, source.db)).rejects.toThrow('has wal_level = replica: set it to logical');
  });

  test('needs the same schema', async () => {
    const { rows } = await target.db.pool.query('select max(version) as newest from schema_migrations');
    const newest: number = rows[0].newest;
    await target.db.pool.query('update schema_migrations set version = version + 1 where version = $1', [
      newest,
    ]);
    await expect(check()).rejects.toThrow(`different releases (schema ${newest} and ${newest + 1})`);
    await target.db.pool.query('update schema_migrations set version = $1 where version > $1', [newest]);
  });

  test('needs the same mode', async () => {
    await target.db.pool.query(`update deployment_mode set mode = 'live'`);
    await expect(check()).rejects.toThrow('this cell is in sandbox mode, and the other in live mode');
  });

  test('needs the products of the account’s eSIMs, bundles and open orders, and no others', async () => {
    const values = [accountUuid, randomUUID()];
    const { pool } = source.db;
    await pool.query(
      `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
       values ($1, $2, '1', $2, 'of_esim', 'active', '{}', now()), ($2, $2, '2', $2, 'of_another_account', 'active', '{}', now())`,
      values,
    );
    await pool.query(
      `insert into bundles (account_id, id, iccid, product_id, status, used_bytes, thresholds, validity_days, created_at)
       values ($1, $2, '1', 'of_bundle', 'queued', 0, '{}', 7, now())`,
      values,
    );
    await pool.query(
      `insert into execution_queue (account_id, id, type, product_id, input, created_at)
       values ($1, $2, 'esim.provision', 'of_order', '{}', now()), ($1, $1, 'esim.suspend', null, '{}', now())`,
      values,
    );
    const missing: string[] = [];
    for (const id of ['of_bundle', 'of_esim', 'of_order', 'of_nobody']) {
      const refusal = await check().then(
        () => '',
        ({ message }: Error) => message,
      );
      missing.push(
        refusal
          .replace(/.*that the account uses: (.*); import them.*/, '$1')
          .split(', ')
          .sort()
          .join(' '),
      );
      await offer(id);
    }
    expect(missing).toEqual(['of_bundle of_esim of_order', 'of_esim of_order', 'of_order', '']);
  });

  test('needs a running process there', async () => {
    await target.db.pool.query('truncate processes');
    await reportIn(target, { cell: 'us', encryption_keys: [keys.source] }, 3_600);
    await expect(check()).rejects.toThrow('no process of the other cell is running');
  });

  test.each([
    ['has another key', { encryption_keys: [keys.target] }],
    ['is of a release that does not say', {}],
  ])('needs a key for its secrets in every process there: one %s', async (_, report) => {
    await reportIn(target, { cell: 'us', ...report });
    await expect(check()).rejects.toThrow(
      `the process on node-7 of the other cell cannot read this cell’s secrets: add key ${keys.source} to its SIMPLANE_ENCRYPTION_KEYS`,
    );
  });

  test.each([
    ['the same', range(1_000, 100)],
    ['one that ends in it', range(901, 100)],
    ['one that begins in it', range(1_099, 1)],
  ])('needs ICCIDs that only one cell gives out: another process there has %s', async (_, iccid_ranges) => {
    await reportIn(target, { cell: 'us', encryption_keys: [keys.source], iccid_ranges });
    await expect(check()).rejects.toThrow('both cells take ICCIDs from the range at 899900001000');
  });

  test.each([
    ['before', range(900, 100)],
    ['behind', range(1_100, 100)],
  ])('may take ICCIDs right %s those of the other', async (_, iccid_ranges) => {
    await reportIn(target, { cell: 'us', encryption_keys: [keys.source], iccid_ranges });
    expect(await check()).toMatchObject({ cell: 'us' });
  });
});

describe('labels', () => {
  test('of cells that exchange accounts differ', () => {
    for (const label of ['eu', null])
      expect(() => checkLabels(label, label)).toThrow('both cells have the same label');
    expect(checkLabels('eu', 'us')).toBeUndefined();
    expect(checkLabels('eu', null)).toBeUndefined();
  });

  test('give each sandbox ICCIDs of its own, or are refused', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const known = new Map<number, string>();
    // Of so many labels, two meet.
    for (const label of letters.flatMap((one) => letters.map((two) => one + two))) {
      const other = known.get(firstSerialOf(label));
      if (other === undefined) known.set(firstSerialOf(label), label);
      else expect(() => checkLabels(other, label)).toThrow('give out the same ICCIDs');
    }
    expect(known.size).toBeLessThan(letters.length ** 2);
  });
});

test('an account that is on its way to one cell, or there, is not moved to another from here', async () => {
  const moving = { source: source.db, accountUuid, cells: { source: 'eu', target: 'us' } } as Moving;
  const begun = async (state: string, cell: string | null) => {
    await source.db.pool.query('delete from account_moves');
    await source.db.pool.query('insert into account_moves values ($1, $2, $3)', [accountUuid, state, cell]);
    return requireThisMove(moving);
  };
  await requireThisMove(moving);
  for (const state of ['copying', 'frozen', 'moved']) {
    await begun(state, 'us');
    await expect(begun(state, 'ap')).rejects.toThrow(
      'in the cell "ap", or on its way there, and --to is the cell "us"',
    );
    await expect(begun(state, null)).rejects.toThrow('in the cell without a label');
  }
  await expect(begun('arriving', 'us')).rejects.toThrow('run the command in the cell it comes from');
});

test('when a move reached each of its steps is known, so that processes get the time to learn of it', async () => {
  const moving = { accountUuid } as Moving;
  const { pool } = source.db;
  await pool.query('delete from account_moves');
  await source.db.transaction((tx) => setState(tx, moving, 'frozen', 'us'));
  await pool.query(`update account_moves set changed_at = 'epoch'`);
  await source.db.transaction((tx) => setState(tx, moving, 'moved', 'ap'));
  const { rows } = await pool.query(
    `select state, cell, changed_at > now() - interval '1 hour' as is_new from account_moves`,
  );
  expect(rows).toEqual([{ state: 'moved', cell: 'ap', is_new: true }]);
});

describe('the command', () => {
  const clock = { nowMs: () => Date.now() };
  const deps = { clock, newUuid: createUuidV7(clock) };

  /** A row of the table with what it needs, and what is given. */
  async function insert(table: string, given: Record<string, unknown>): Promise<void> {
    const { rows: needed } = await source.db.pool.query<{ name: string; type: string }>(
      `select column_name as name, udt_name as type from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_nullable = 'NO' and column_default is null`,
      [table],
    );
    const samples: Record<string, unknown> = {
      ...{ uuid: randomUUID(), text: 'x', timestamptz: new Date(), int4: 1, int8: 1, bool: false },
      ...{ jsonb: '{}', bytea: randomBytes(32), _text: '{}', _uuid: '{}', _int4: '{}', _int8: '{}' },
    };
    const row = { ...Object.fromEntries(needed.map(({ name, type }) => [name, samples[type]])), ...given };
    const names = Object.keys(row);
    const places = names.map((_, index) => `$${index + 1}`);
    const client = await source.db.pool.connect();
    await client.query('set session_replication_role = replica'); // without what comes with such a row
    await client.query(
      `insert into ${table} (${names.join(', ')}) values (${places.join(', ')})`,
      Object.values(row),
    );
    client.release(true);
  }

  let esims = 0;

  /** An account with keys, a session, and something of all that its old cell keeps, or must not keep. */
  async function openAccount() {
    const { id: account_id } = await storeAccount(source.db, deps, 'Tenant');
    const [key, revoked, link] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const key_id = randomUUID();
    await insert('api_keys', { account_id, id: key_id, hash: key });
    await insert('api_keys', { account_id, hash: revoked, revoked_at: new Date() });
    await insert('dashboard_sessions', { key_id });
    await insert('dashboard_links', { key_id });
    await insert('install_links', { account_id, hash: link });
    await insert('webhook_endpoints', { account_id, status: 'enabled' });
    await insert('events', { account_id });
    await insert('esims', { account_id, iccid: `8988${++esims}`, product_id: 'sold', status: 'active' });
    await offer('sold');
    for (const table of ['event_feed', 'event_feed_heads', 'counted_events', 'endpoint_hours', 'batches'])
      await insert(table, { account_id });
    return { accountUuid: account_id, key, link };
  }

  type Moved = Awaited<ReturnType<typeof openAccount>>;

  /** Runs it as a process would, which is interrupted when it is about to send the statement of this name. */
  async function run({ accountUuid }: Moved, options: { undo?: boolean; endAt?: string } = {}) {
    const own = openDatabase({
      connectionString: source.server.url('cell'),
      poolSize: 4,
      onError: () => {},
    });
    const until = (on: Queryable): Queryable => ({
      query: (statement, values) =>
        statement.name === options.endAt
          ? Promise.reject(new Error('interrupted'))
          : on.query(statement, values),
    });
    const db: Database = {
      ...own,
      ...until(own),
      transaction: (work) => own.transaction((tx) => work(until(tx))),
    };
    const tools = { ...commandLine, ...deps, db, cell: 'eu', connectionString: source.server.url('cell') };
    const id = idOfUuid(idPrefixes.account, accountUuid);
    const wanted = { to: target.server.url('cell'), undo: options.undo ?? false };
    try {
      return await inThisProcess({}, () => moveAccountCommand(tools as unknown as Tools, id, wanted));
    } finally {
      await own.end();
    }
  }

  const tables = [...[...replicated, ...carried].map(({ name }) => name), ...cellsOwn].filter(
    (name) => name !== 'account_moves',
  );
  const rowsOf: Record<string, string> = {
    ...{ accounts: 'id = $1', failure_group_retries: 'account_id = $1' },
    ...{ dashboard_sessions: 'key_id in (select id from api_keys where account_id = $1)' },
    ...{ dashboard_links: 'key_id in (select id from api_keys where account_id = $1)' },
  };

  /** The tables that have rows of the account. */
  async function tablesWith({ db }: Cell, { accountUuid }: Moved): Promise<string[]> {
    const found: string[] = [];
    for (const table of tables) {
      const { rowCount } = await db.pool.query(
        `select from ${table} where ${rowsOf[table] ?? 'account_id = $1'}`,
        [accountUuid],
      );
      if (rowCount) found.push(table);
    }
    return found.sort();
  }

  const stepsIn = async ({ db }: Cell, { accountUuid }: Moved) => {
    const text = `select action from audit_log where account_id = $1 and action like 'account.%' order by id`;
    return (await db.pool.query(text, [accountUuid])).rows.map(({ action }) => action);
  };

  test('goes on where it was interrupted, tells routers where the account is, and leaves what says so and what was promised', async () => {
    await makeAlike();
    const account = await openAccount();
    const before = await tablesWith(source, account);
    await expect(run(account, { endAt: 'move_count' })).rejects.toThrow('interrupted');
    expect(await tablesWith(source, account)).toEqual([...before, 'audit_log', 'endpoint_leases'].sort());
    const { stdout } = await run(account);
    const lines = [account.key, account.link].map((hash) => `${hash.toString('hex')} us\n`);
    expect(stdout).toBe(lines.join(''));
    expect(await tablesWith(source, account)).toEqual([
      ...['accounts', 'api_keys', 'audit_log', 'counted_events', 'dashboard_links', 'dashboard_sessions'],
      ...['event_feed', 'event_feed_heads', 'events'],
    ]);
    expect(await tablesWith(target, account)).toEqual([...before, 'audit_log'].sort());
    expect(await stepsIn(target, account)).toEqual([
      ...['account.move_started', 'account.frozen', 'account.frozen', 'account.moved'],
    ]);
    const { rows } = await source.db.pool.query(
      'select state, cell from account_moves where account_id = $1',
      [account.accountUuid],
    );
    expect(rows).toEqual([{ state: 'moved', cell: 'us' }]);
  });

  test('undoes what it has begun, in both cells, and can then move the account to a cell without a label', async () => {
    await makeAlike();
    const account = await openAccount();
    const before = await tablesWith(source, account);
    await expect(run(account, { endAt: 'move_count' })).rejects.toThrow('interrupted');
    expect((await run(account, { undo: true })).stderr).toBe('undone: the account is here as before\n');
    expect(await tablesWith(source, account)).toEqual([...before, 'audit_log'].sort());
    expect(await tablesWith(target, account)).toEqual([]);
    expect(await stepsIn(source, account)).toEqual([
      'account.move_started',
      'account.frozen',
      'account.move_undone',
    ]);
    for (const { db } of [source, target])
      expect(
        (await db.pool.query('select from account_moves where account_id = $1', [account.accountUuid]))
          .rowCount,
      ).toBe(0);
    await target.db.pool.query('truncate processes');
    await reportIn(target, { cell: null, encryption_keys: [keys.source] });
    const { stdout } = await run(account);
    const lines = [account.key, account.link].map((hash) => `${hash.toString('hex')} first\n`);
    expect(stdout).toBe(lines.join(''));
  });
});
