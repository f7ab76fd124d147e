import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cell, type Customer, moveAccount, newCustomer, startCell } from '../support/cells.ts';
import { call } from '../support/client.ts';
import { until } from '../support/until.ts';

let eu: Cell;
let us: Cell;
beforeAll(async () => {
  [eu, us] = await Promise.all([startCell('eu'), startCell('us')]);
});
afterAll(() => Promise.all([eu?.stop(), us?.stop()]));

/** An eSIM of the customer. */
async function provision(customer: Customer): Promise<string> {
  const body = { product_id: 'prod_europe_5gb_30d' };
  const { json } = await customer.call('POST', '/v1/esims', { body });
  const { iccid } = await until(
    async () => (await customer.call('GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  return iccid;
}

/** Each test goes on where the one before it has left the account. */
describe('an account that goes and comes back', () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await newCustomer(eu, [eu, us]);
  });

  test('whoever reads in the old cell while it removes the account gets what was there, or is told the new one', async () => {
    await customer.call('PUT', '/v1/event_consumers/reader', { body: { after: 'start' } });
    const iccid = await provision(customer);
    const direct = { url: eu.url, key: customer.key };
    const statuses = new Set<number>();
    let isMoved = false;
    const reading = (async () => {
      while (!isMoved)
        for (const path of [`/v1/esims/${iccid}`, '/v1/event_consumers/reader'])
          statuses.add((await call(direct, 'GET', path)).status);
    })();
    const { code } = await moveAccount(customer.account, [eu, us]);
    isMoved = true;
    await reading;
    expect([code, [...statuses].sort()]).toEqual([0, [200, 421]]);
  });

  test('when a move back is undone, the cell that it was to come back to still says where it is', async () => {
    await moveAccount(customer.account, [us, eu], { dieAt: 'move_copied:before:1' });
    // It is on its way here, so it does not leave from here.
    expect(await moveAccount(customer.account, [eu, us])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the account is arriving here'),
    });
    expect(await moveAccount(customer.account, [us, eu], { undo: true })).toMatchObject({ code: 0 });
    const { status, json } = await call({ url: eu.url, key: customer.key }, 'GET', '/v1/me');
    expect([status, json.error?.cell]).toEqual([421, 'us']);
  });

  test('it comes back to a cell where a process has written of it once more after it had left', async () => {
    // As a sender does, which writes its statistics some seconds later.
    for (const cell of [eu, us])
      await cell.query(
        `insert into endpoint_hours (account_id, endpoint_id, hour, succeeded_count, failed_count, duration_counts)
         values ($1, $1, date_trunc('hour', now()), 1, 0, '{}')`,
        [customer.accountUuid],
      );
    expect(await moveAccount(customer.account, [us, eu])).toMatchObject({ code: 0 });
  });
});

test('a move is not undone once the account is in the other cell, also if the old cell does not know it yet; before its rows are removed, the router can learn where it is, and all processes have', async () => {
  const customer = await newCustomer(eu, [eu, us]);
  const iccid = await provision(customer);
  // The old cell does not know yet that it has arrived.
  await moveAccount(customer.account, [eu, us], { dieAt: 'move_forget:commit:1' });
  const undone = await moveAccount(customer.account, [eu, us], { undo: true });
  expect(undone).toMatchObject({ code: 1, stderr: expect.stringContaining('move it from there') });

  const told = await moveAccount(customer.account, [eu, us], { dieAt: 'move_known:before:1' });
  expect([told.code, told.stdout]).toEqual([null, expect.stringMatching(/^[0-9a-f]{64} us\n$/)]);
  const leaving = await moveAccount(customer.account, [eu, us], { dieAt: 'move_remove_esims:before:1' });
  const [{ seconds } = { seconds: 0 }] = await eu.query<{ seconds: number }>(
    'select extract(epoch from now() - changed_at)::float as seconds from account_moves where account_id = $1',
    [customer.accountUuid],
  );
  expect([leaving.code, leaving.stdout]).toEqual([null, told.stdout]);
  expect(seconds).toBeGreaterThan(5);
  expect((await moveAccount(customer.account, [eu, us])).stdout).toBe(told.stdout);
  expect((await customer.call('GET', `/v1/esims/${iccid}`)).status).toBe(200);
});

test('while one account is moved, the end of another’s move lets the cell go on counting usage', async () => {
  const [first, second, stays] = await Promise.all([eu, eu, eu].map((home) => newCustomer(home, [eu, us])));
  if (!first || !second || !stays) throw new Error('no customers');
  const [iccid, leaving] = [await provision(stays), await provision(second)];
  const use = (customer: Customer, of: string) =>
    customer.call('POST', `/v1/sandbox/esims/${of}/simulate`, { body: { action: 'use_data', bytes: 1 } });
  for (let count = 0; count < 2; count++)
    for (const reply of [await use(stays, iccid), await use(second, leaving)]) expect(reply.status).toBe(200);
  await moveAccount(first.account, [eu, us], { dieAt: 'move_count:before:1' });
  expect(await moveAccount(second.account, [eu, us])).toMatchObject({ code: 0 });
  expect((await use(stays, iccid)).status).toBe(200);
  expect(await moveAccount(first.account, [eu, us])).toMatchObject({ code: 0 });
  const identities = await eu.query(
    `select relreplident as identity from pg_class where relname in ('usage_records', 'usage_days')`,
  );
  expect(identities).toEqual([{ identity: 'd' }, { identity: 'd' }]);
});

test('a move goes on when what PostgreSQL could not copy for a while is mended', async () => {
  const customer = await newCustomer(eu, [eu, us]);
  await provision(customer);
  const [row] = await eu.query<{ row: object }>(
    'select to_jsonb(executions) as row from executions where account_id = $1',
    [customer.accountUuid],
  );
  // Until here, the command empties the tables itself.
  await moveAccount(customer.account, [eu, us], { dieAt: 'move_subscribe:before:1' });
  await us.query(
    'insert into executions select stored.* from jsonb_populate_record(null::executions, $1) stored',
    [row?.row],
  );
  const errors = async () => {
    const [{ count } = { count: 0 }] = await us.query<{ count: number }>(
      'select sum(sync_error_count)::integer as count from pg_stat_subscription_stats',
    );
    return count;
  };
  await moveAccount(customer.account, [eu, us], { dieAt: 'move_copied:before:1' });
  await until(errors, (count) => count > 5);
  const moving = moveAccount(customer.account, [eu, us]);
  const before = await errors();
  await until(errors, (count) => count > before + 20);
  await us.query('delete from executions where account_id = $1', [customer.accountUuid]);
  expect(await moving).toMatchObject({ code: 0 });
});
