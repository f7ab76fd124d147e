import { randomUUID } from 'node:crypto';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createServer, type PostgresServer } from '../../../faults/src/deployment/postgres-server.ts';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { storeAccount } from '../../src/accounts/store-account.ts';
import { checkCells, checkLabels } from '../../src/commands/move/check.ts';
import { moveAccountCommand } from '../../src/commands/move/move.ts';
import type { Moving } from '../../src/commands/move/parts.ts';
import { requireThisMove } from '../../src/commands/move/state.ts';
import type { Tools } from '../../src/commands/with-database.ts';
import { firstSerialOf } from '../../src/orders/esims/iccid.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { createUuidV7 } from '../../src/platform/ids/uuid-v7.ts';

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
  const server = await createServer({ wal_level: walLevel });
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

describe('a move between two cells', () => {
  beforeEach(async () => {
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
  });

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
    const offer = (id: string) =>
      target.db.pool.query(
        `insert into products (id, name, countries, validity_days, price_amount, price_currency, speeds, active, listed, created_at)
         values ($1, $1, '{}', 7, 1, 'eur', '{}', true, true, now())`,
        [id],
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
