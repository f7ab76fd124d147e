import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carried, cellsOwn, replicated } from '../../src/commands/move/tables.ts';
import { type Cell, type Customer, moveAccount, newCustomer, startCell } from '../support/cells.ts';
import { call } from '../support/client.ts';
import { spawnServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

let eu: Cell;
let us: Cell;
beforeAll(async () => {
  [eu, us] = await Promise.all([startCell('eu'), startCell('us')]);
});
afterAll(() => Promise.all([eu?.stop(), us?.stop()]));

const page = new URL('../../../docs/cells.md', import.meta.url);
const product = { product_id: 'prod_europe_5gb_30d' };

async function order(customer: Customer, idempotencyKey: string): Promise<string> {
  const reply = await customer.call('POST', '/v1/esims', { body: product, idempotencyKey });
  expect(reply.status).toBe(202);
  return reply.json.execution_id;
}

/** Orders until it is stopped, ten times a second at most. Returns the executions by their keys. */
function orderOn(customer: Customer) {
  const orders = new Map<string, string>();
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      const key = randomUUID();
      orders.set(key, await order(customer, key));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await running;
      return orders;
    },
  };
}

/** Reads the whole feed, one page after another, by cursor. */
async function readOn(customer: Customer, cursor: string | null, into: string[]): Promise<string> {
  let next = cursor;
  for (;;) {
    const query = `after=${encodeURIComponent(next ?? 'start')}`;
    const { status, json } = await customer.call('GET', `/v1/events/feed?${query}&limit=50`);
    expect([status, json.error]).toEqual([200, undefined]);
    into.push(...json.data.map(({ id }: { id: string }) => id));
    next = json.cursor as string;
    if (json.caught_up) return next;
  }
}

test('every table with an account is copied while it works, copied when it is frozen, or stays', async () => {
  const tables = await eu.query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'account_id'`,
  );
  const known = [...replicated, ...carried].map(({ name }) => name);
  const withoutAccount = ['accounts', 'dashboard_links', 'dashboard_sessions'];
  expect([...known, ...cellsOwn].sort()).toEqual(
    [...tables.map(({ name }) => name), ...withoutAccount].sort(),
  );
});

describe('an account that is moved while it works', () => {
  test('loses and doubles nothing, and the others notice nothing', async () => {
    const receiver = await startReceiver();
    const [moved, other] = [await newCustomer(eu, [eu, us]), await newCustomer(eu, [eu])];
    const endpoint = { url: receiver.url, enabled_event_types: ['esim.provisioned'] };
    await moved.call('POST', '/v1/webhook_endpoints', { body: endpoint });
    const first = await order(moved, 'the first');
    const held = await moved.call('POST', '/v1/esims', { body: { product_id: 'prod_sandbox_held' } });
    await until(
      () =>
        eu.query(
          `update execution_queue set due_at = now() + interval '1 hour' where account_id = $1 and product_id = 'prod_sandbox_held' and leased_until is null returning 1`,
          [moved.accountUuid],
        ),
      (rows) => rows.length === 1,
    );
    const read: string[] = [];
    const loads = [orderOn(moved), orderOn(moved), orderOn(other)];
    let cursor = await readOn(moved, null, read);

    const { code, stdout, stderr } = await moveAccount(moved.account, [eu, us]);
    expect([code, stderr.split('\n').at(-2)]).toEqual([0, 'moved: the old cell answers 421']);
    expect(stdout).toMatch(/^[0-9a-f]{64} us\n/);
    cursor = await readOn(moved, cursor, read);
    const after = await order(moved, 'after the move');
    // It waited before the move, and does so in the new cell, where nobody holds it any more.
    const canceled = await moved.call('POST', `/v1/executions/${held.json.id}/cancel`, { body: {} });
    expect([canceled.status, canceled.json.status]).toEqual([200, 'failed']);
    const [one, two, others] = await Promise.all(loads.map((load) => load.stop()));

    // Each order that was accepted is there once, has ended once, and its key still answers with it.
    const orders = new Map([...(one ?? []), ...(two ?? []), ['the first', first], ['after the move', after]]);
    const ended = await until(
      () =>
        us.query<{ id: string; status: string }>(
          `select id::text, status from executions where account_id = $1 and product_id <> 'prod_sandbox_held'`,
          [moved.accountUuid],
        ),
      (rows) => rows.length === orders.size,
    );
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    for (const [key, id] of [...orders].slice(0, 10)) expect(await order(moved, key)).toBe(id);
    const actions = await us.query<{ action: string }>(
      `select action from audit_log where account_id = $1 and actor_type = 'command_line' order by id`,
      [moved.accountUuid],
    );
    expect(actions.map(({ action }) => action)).toEqual([
      ...['account.created', 'api_key.created'],
      ...['account.move_started', 'account.frozen', 'account.moved'],
    ]);
    expect(other.refusals()).toBe(0);
    expect(others?.size).toBeGreaterThan(10);

    // The feed went on behind the cursor, and everybody who must know has been told.
    await until(
      async () =>
        readOn(moved, cursor, read).then((next) => {
          cursor = next;
          return new Set(read).size;
        }),
      (size) => size >= orders.size,
    );
    expect(new Set(read).size).toBe(read.length);
    const whole: string[] = [];
    await readOn(moved, null, whole);
    expect(read).toEqual(whole);
    const told = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.execution_id));
    await until(
      async () => told().size,
      (size) => size === orders.size,
    );
    await receiver.stop();
  });

  test('leaves nothing behind but what says where it is', async () => {
    const left = await eu.query<{
      slots: number;
      publications: number;
      triggers: number;
      esims: number;
      queued: number;
    }>(
      `select (select count(*)::integer from pg_replication_slots) as slots,
  (select count(*)::integer from pg_publication) as publications,
  (select count(*)::integer from pg_trigger where tgname like 'simplane_move%') as triggers,
  (select count(*)::integer from esims where account_id in (select account_id from account_moves)) as esims,
  (select count(*)::integer from execution_queue where account_id in (select account_id from account_moves)) as queued`,
    );
    expect(left).toEqual([{ slots: 0, publications: 0, triggers: 0, esims: 0, queued: 0 }]);
    expect(await us.query('select from pg_subscription')).toEqual([]);
    const { json } = await call(us, 'GET', '/v1/me');
    expect(json.error).toBeUndefined();
  });
});

// In the order of the move. Each is reached by a run of its own, which goes on where the one before was killed.
const moments = [
  'move_subscribe:before:1',
  'move_take_leases:before:2', // frozen, and workers have ended what they had
  'move_last_entry:before:1',
  'move_count:before:1',
  'move_insert_webhook_endpoints:before:1',
  'move_forget:commit:1', // it has arrived, and the old cell does not know
  'move_unsubscribe:before:1',
  'move_remove_esims:before:1',
  'move_unguard_events:before:1',
];

test('a move that is killed at any step goes on when it is run again, to and fro', async () => {
  const customer = await newCustomer(eu, [eu, us]);
  const load = orderOn(customer);
  for (const dieAt of moments) {
    const killed = await moveAccount(customer.account, [eu, us], { dieAt });
    expect([dieAt, killed.code, killed.stderr]).toEqual([dieAt, null, killed.stderr]);
  }
  expect(await moveAccount(customer.account, [eu, us])).toMatchObject({ code: 0 });
  expect(await moveAccount(customer.account, [us, eu])).toMatchObject({ code: 0 });
  const orders = await load.stop();
  const ended = await until(
    () => eu.query<{ id: string }>('select id from executions where account_id = $1', [customer.accountUuid]),
    (rows) => rows.length >= orders.size,
  );
  expect(ended.length).toBe(orders.size);
  const read: string[] = [];
  await readOn(customer, null, read);
  expect(new Set(read).size).toBe(read.length);
});

test('while it is frozen it can be read, its writes get 503, no process can write for it, and all can be undone', async () => {
  const customer = await newCustomer(us, [us]);
  const direct = { url: us.url, key: customer.key };
  await order(customer, 'before');
  await moveAccount(customer.account, [us, eu], { dieAt: 'move_count:before:1' });
  const write = () => call(direct, 'POST', '/v1/esims', { body: product });
  const refused = await write();
  expect([refused.status, refused.json.error.code, refused.headers.get('retry-after')]).toEqual([
    503,
    'unavailable',
    '1',
  ]);
  expect((await call(direct, 'GET', '/v1/esims')).status).toBe(200);
  // As a process would that was stopped for all that time, and has not heard of it.
  const straggler = us.query(
    'insert into executions select (e).* from (select e from executions e where account_id = $1 limit 1) given',
    [customer.accountUuid],
  );
  await expect(straggler).rejects.toMatchObject({ code: '40001' });

  const running = new pg.Client(us.env['DATABASE_URL']);
  await running.connect();
  await running.query('select pg_advisory_lock(hashtextextended($1, 0))', [
    `simplane_move_${customer.accountUuid.replaceAll('-', '')}`,
  ]);
  expect((await moveAccount(customer.account, [us, eu], { undo: true })).stderr).toBe(
    'the command already runs for this account\n',
  );
  await running.end();
  const undone = await moveAccount(customer.account, [us, eu], { undo: true });
  expect([undone.code, undone.stderr]).toEqual([0, 'undone: the account is here as before\n']);
  await order(customer, 'after');
  expect(await eu.query('select from esims where account_id = $1', [customer.accountUuid])).toEqual([]);
  expect((await moveAccount(customer.account, [us, eu], { undo: true })).stderr).toContain(
    'is not being moved',
  );
});

test('a move that a failover of the old cell has cut does not go on with a gap, and can be undone', async () => {
  const customer = await newCustomer(eu, [eu, us]);
  await moveAccount(customer.account, [eu, us], { dieAt: 'move_set_state:before:3' });
  // A standby does not have the slots of its primary.
  const endSlots = async () => {
    await eu.query('select pg_terminate_backend(active_pid) from pg_replication_slots where active');
    return eu.query('select pg_drop_replication_slot(slot_name) from pg_replication_slots').catch(() => []);
  };
  await until(endSlots, (dropped) => dropped.length === 1);
  await order(customer, 'in the gap');
  expect(await moveAccount(customer.account, [eu, us])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('run the command with --undo, and then again'),
  });
  expect(await moveAccount(customer.account, [eu, us], { undo: true })).toMatchObject({ code: 0 });
  await order(customer, 'after the gap');
  expect(await us.query('select from pg_subscription')).toEqual([]);
});

test('a cell that was restored to before a move serves the account again, until it is told, and nothing of it is left', async () => {
  const customer = await newCustomer(eu, [eu, us]);
  await customer.call('POST', '/v1/esims', { body: { product_id: 'prod_sandbox_held' } });
  await backUp(eu);
  const moved = await moveAccount(customer.account, [eu, us]);
  expect(moved.code).toBe(0);

  const restored = {
    ...eu,
    env: { ...eu.env, DATABASE_URL: eu.postgres.url('backup'), SIMPLANE_ROLE: 'api' },
  };
  const server = await spawnServer(restored.env);
  const status = async () => (await call({ url: server.url, key: customer.key }, 'GET', '/v1/me')).status;
  expect(await status()).toBe(200);
  expect((await moveAccount(customer.account, [restored, us])).stderr).toContain(
    'the other cell has an account with this id',
  );
  const text = await readFile(page, 'utf8');
  const [find = '', tell = ''] = [...text.matchAll(/```sql\n([^`]*)```/g)].map(([, block]) => block);
  const [left] = await us.query<{ account_id: string }>(find);
  await eu.postgres.query('backup', tell.replace('ACCOUNT_ID', left?.account_id ?? '').replace('eu', 'us'));
  const again = await moveAccount(customer.account, [restored, us]);
  expect([again.code, again.stdout]).toEqual([0, moved.stdout]);
  await until(status, (now) => now === 421);
  for (const table of ['execution_queue', 'executions', 'webhook_endpoints'])
    expect(
      await eu.postgres.query('backup', `select from ${table} where account_id = $1`, [customer.accountUuid]),
    ).toEqual([]);
  await server.end('SIGTERM');
});

/** Keeps a copy of the cell's database as it is now. PostgreSQL makes one only while nobody is connected. */
async function backUp({ postgres }: Cell): Promise<void> {
  const run = (text: string) => postgres.query('postgres', text);
  await run('alter database simplane allow_connections false');
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'simplane'`);
  await run('create database backup template simplane');
  await run('alter database simplane allow_connections true');
}
