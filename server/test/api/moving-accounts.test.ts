import { randomUUID } from 'node:crypto';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { replaceKey } from '../../src/accounts/roll-key.ts';
import { createLink } from '../../src/accounts/sessions/create-link.ts';
import { type ApiKeyRow, listKeyRows } from '../../src/accounts/sql/keys.ts';
import { cancelUndeliverable } from '../../src/notify/webhooks/endpoints/disable.ts';
import { reportHealth } from '../../src/notify/webhooks/endpoints/report-health.ts';
import { finishBatches } from '../../src/orders/batches/finish-due.ts';
import { expireBundles } from '../../src/orders/bundles/expire.ts';
import { storeBundle } from '../../src/orders/bundles/run-top-up.ts';
import { continueClosings } from '../../src/orders/closing/continue.ts';
import { runErasures } from '../../src/orders/erasures/run.ts';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import { continueGroupRetries } from '../../src/orders/operator/continue-group-retries.ts';
import { endServices } from '../../src/orders/service/end-due.ts';
import { continueResync } from '../../src/orders/service/resync.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { lowestUuid } from '../../src/platform/ids/uuid-range.ts';
import { countEvents } from '../../src/views/overview/count-events.ts';
import { call, type Reply } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';

type State = 'copying' | 'frozen' | 'moved' | 'arriving';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Tenant = Awaited<ReturnType<typeof openAccount>>;

async function openAccount(on: TestService = service) {
  const { accountUuid, key } = await on.createAccount('Tenant');
  return { ...on, accountUuid, key, id: idOfUuid(idPrefixes.account, accountUuid) };
}

async function setState({ db, accountUuid }: Tenant, state: State, cell: string | null = 'us') {
  await db.pool.query(
    `insert into account_moves (account_id, state, cell) values ($1, $2, $3)
     on conflict (account_id) do update set state = excluded.state, cell = excluded.cell`,
    [accountUuid, state, cell],
  );
}

async function query(text: string, values: unknown[]): Promise<number> {
  return (await service.db.pool.query(text, values)).rowCount ?? 0;
}

/** Gives the account something to do, and returns whether it is done. */
type Give = (account: Tenant) => Promise<() => Promise<boolean>>;

/** Whether no row of the account fulfils the condition any more. */
const noRow =
  ({ accountUuid }: Tenant, table: string, condition = 'true') =>
  async () =>
    (await query(`select from ${table} where account_id = $1 and ${condition}`, [accountUuid])) === 0;

const expiredBundle: Give = async (account) => {
  const { db, accountUuid } = account;
  const product = { id: 'prod_europe_5gb_30d', data_bytes: 1000, validity_days: 30, countries: ['DE'] };
  await storeBundle(
    db,
    { accountUuid, iccid: await insertEsim(account), product, price: null },
    account.service,
  );
  const past = `now() - interval '1 minute'`;
  await query(
    `update bundles set status = 'active', activated_at = ${past}, expires_at = ${past} where account_id = $1`,
    [accountUuid],
  );
  return noRow(account, 'bundles', `status = 'active'`);
};

const endedService: Give = async (account) => {
  await insertEsim(account);
  await query(`update esims set service_ends_at = now() - interval '1 minute' where account_id = $1`, [
    account.accountUuid,
  ]);
  return noRow(account, 'esims', 'service_ends_at is not null');
};

/** As an eSIM from before there were states, which only a resync gives one. */
const unknownService: Give = async (account) => {
  await insertEsim(account);
  return noRow(account, 'esims', 'service is null');
};

const endedBatch: Give = async (account) => {
  await query('insert into batches (account_id, id, total, created_at) values ($1, $2, 1, now())', [
    account.accountUuid,
    randomUUID(),
  ]);
  return noRow(account, 'batches', 'finished_at is null');
};

const closing: Give = async (account) => {
  const { accountUuid } = account;
  await query(`update accounts set closed_at = now() - interval '1 hour' where id = $1`, [accountUuid]);
  await query('insert into account_closings (account_id, terminate_esims) values ($1, false)', [accountUuid]);
  return noRow(account, 'account_closings', 'finished_at is null');
};

const erasure: Give = async (account) => {
  await query('insert into erasures (account_id, id, iccid, requested_at) values ($1, $2, $3, now())', [
    account.accountUuid,
    randomUUID(),
    await insertEsim(account),
  ]);
  return noRow(account, 'erasures', 'finished_at is null');
};

const failingEndpoint: Give = async (account) => {
  const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
  expect((await call(account, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
  await query(
    `update webhook_endpoints set failing_since = now() - interval '1 hour', failure_count = 9 where account_id = $1`,
    [account.accountUuid],
  );
  return noRow(account, 'webhook_endpoints', `reported_health is distinct from 'failing'`);
};

/** The endpoint does not exist any more. */
const undeliverable: Give = async (account) => {
  await query(
    `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     values ($1, $2, $2, $2, 'event', now())`,
    [account.accountUuid, randomUUID()],
  );
  return noRow(account, 'delivery_queue');
};

const uncountedEvent: Give = async (account) => {
  const body = { type: 'esim.provisioned', data: {} };
  expect((await call(account, 'POST', '/v1/events/test', { body })).status).toBe(202);
  await sequenceEvents(service);
  await query(`insert into counted_events (account_id, position, counted_to) values ($1, 0, 'epoch')`, [
    account.accountUuid,
  ]);
  return noRow(account, 'counted_events', 'position = 0');
};

const group = 'declined by all';
const failedOrder: Give = async (account) => {
  await insertFailed(account, 'declined', group);
  return noRow(account, 'executions', `failure_group = '${group}'`);
};

/** As an operator does who wants the whole group retried, when the first of it has succeeded. */
async function retryGroup(): Promise<void> {
  await query(
    `insert into failure_group_retries
       (id, group_id, status, account_id, execution_id, after_id, last_id, retried, origin, created_at)
     values ($1, $2, 'running', $1, $1, $3, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 1, '{"apiKey": null, "requestId": null, "ip": null}', now())`,
    [randomUUID(), group, lowestUuid],
  );
  await continueGroupRetries(service.db, service.service, new AbortController().signal);
}

/** An operator's: one that has ended is not made up for with a single account. */
async function resync(): Promise<void> {
  await query(`update core_resync set after_iccid = '', finished_at = null`, []);
  await continueResync(service.db, service.service);
}

const chores: [string, Give, () => Promise<unknown>][] = [
  ['expires bundles', expiredBundle, () => expireBundles(service.db, service.service)],
  ['ends services', endedService, () => endServices(service.db, service.service)],
  ['calculates the states for the core again', unknownService, resync],
  ['finishes batches', endedBatch, () => finishBatches(service.db, service.service)],
  ['goes on with closings', closing, () => continueClosings(service.db, service.service)],
  ['erases', erasure, () => runErasures(service.db, service.service)],
  [
    'reports the health of endpoints',
    failingEndpoint,
    () => reportHealth(service.db, service.service, { afterMs: 60_000, minFailures: 3 }),
  ],
  ['cancels deliveries', undeliverable, () => cancelUndeliverable(service.db, service.clock)],
  ['counts events', uncountedEvent, () => countEvents(service.service)],
  ['retries a group of failures', failedOrder, retryGroup],
];

describe.each<State>(['frozen', 'moved', 'arriving'])('of an account that is %s', (state) => {
  test.each(chores)('nothing is touched by the chore that %s, until it is here', async (_, give, run) => {
    const [away, here] = [await openAccount(), await openAccount()];
    const [isDone, isDoneForOther] = [await give(away), await give(here)];
    await setState(away, state);
    await run();
    expect([await isDone(), await isDoneForOther()]).toEqual([false, true]);
    // Its rows are copied, and it works here.
    await setState(away, 'copying');
    await run();
    expect(await isDone()).toBe(true);
  });
});

describe('reports of a network about a frozen account', () => {
  let live: TestService;
  beforeAll(async () => {
    live = await startService({ mode: 'live' });
  });
  afterAll(() => live.stop());

  test('of usage are refused as too early, and count when they are sent again', async () => {
    const [away, here] = [await openAccount(live), await openAccount(live)];
    const iccids = [await insertEsim(away), await insertEsim(here)];
    const at = Math.floor(live.clock.nowMs() / 1000);
    const records = iccids.map((iccid) => ({ record_id: 'x', iccid, bytes: 1, at }));
    const report = async () => (await call(live, 'POST', '/v1/usage_records', { body: { records } })).json;
    await setState(away, 'frozen');
    expect(await report()).toMatchObject({
      accepted: 1,
      rejections: [{ index: 0, iccid: iccids[0], reason: 'esim_not_ready' }],
    });
    await setState(away, 'copying');
    expect(await report()).toMatchObject({ accepted: 1, duplicates: 1, rejected: 0 });
  });

  const insertQueued = async ({ db, accountUuid }: Tenant) => {
    const iccid = '8999905000000000001';
    await db.pool.query(
      `insert into execution_queue (account_id, id, type, product_id, iccid, input, created_at, due_at)
       values ($1, $2, 'esim.provision', 'prod_europe_5gb_30d', $3, '{}', now(), now() + interval '1 hour')`,
      [accountUuid, randomUUID(), iccid],
    );
    return iccid;
  };

  test.each([
    ['its eSIM', insertEsim],
    ['an eSIM that is being ordered', insertQueued],
  ])('of %s are not answered as taken, so the network sends them again', async (_, insert) => {
    const away = await openAccount(live);
    const iccid = await insert(away);
    const observe = createObservationHandler(live.service);
    const seen = () =>
      observe({ kind: 'attach', iccid, country: 'DE', at: new Date(live.clock.nowMs()) } as const);
    await setState(away, 'frozen');
    await expect(seen()).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      headers: { 'Retry-After': '1' },
    });
    await setState(away, 'copying');
    expect(await seen()).toBe(true);
  });
});

describe('a request', () => {
  const order = { product_id: 'prod_europe_5gb_30d' };
  type Send = (method: string, path: string, body?: object) => Promise<Reply>;

  /** A key that no process has looked up yet. */
  async function withKey({ accountUuid, url }: Tenant): Promise<Send> {
    const key = await service.createKey({ accountUuid });
    return (method, path, body) => call({ url, key }, method, path, { body });
  }

  async function withOperatorKey({ id, url }: Tenant): Promise<Send> {
    const key = await service.createKey({ scopes: ['operator', 'operator_write'] });
    return (method, path, body) =>
      call({ url, key }, method, path, { body, headers: { 'Service-Account': id } });
  }

  /** Signed in with the account's key in another process, so that this one has not looked it up yet. */
  async function withSession({ accountUuid, url }: Tenant): Promise<Send> {
    const other = await startService({ databaseUrl: service.databaseUrl });
    const body = { api_key: await service.createKey({ accountUuid }) };
    const started = await call(other, 'POST', '/dashboard/api/session', {
      ...{ key: null, headers: { origin: other.url }, body },
    });
    await other.stop();
    const token = started.headers.get('set-cookie')?.split(';')[0]?.split('=')[1];
    const headers = {
      origin: url,
      'x-csrf-token': started.json.csrf_token,
      cookie: `simplane_session_${new URL(url).port}=${token}`,
    };
    return (method, path, body) =>
      call(service, method, `/dashboard/api${path}`, { key: null, headers, body });
  }

  const senders: [string, (account: Tenant) => Promise<Send>][] = [
    ['of the account’s key', withKey],
    ['of an operator for the account', withOperatorKey],
    ['of a dashboard session', withSession],
  ];

  describe.each(senders)('%s', (_, prepare) => {
    const both = async (send: Send) => [
      await send('GET', '/v1/esims'),
      await send('POST', '/v1/esims', order),
    ];

    test('while the account is copied is answered as ever', async () => {
      const account = await openAccount();
      const send = await prepare(account);
      await setState(account, 'copying');
      expect((await both(send)).map(({ status }) => status)).toEqual([200, 202]);
    });

    test('while it is frozen can read, and is asked to write a second later', async () => {
      const account = await openAccount();
      const send = await prepare(account);
      await setState(account, 'frozen');
      expect((await send('GET', '/v1/esims')).status).toBe(200);
      const writes = [
        await send('POST', '/v1/esims', order),
        await send('PATCH', '/v1/branding', { name: 'Changed' }),
        await send('PUT', '/v1/event_consumers/changed', {}),
      ];
      for (const { status, json, headers } of writes) {
        expect([status, json.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
      }
    });

    test.each<State>(['moved', 'arriving'])('when it is %s is told the cell', async (state) => {
      const account = await openAccount();
      const send = await prepare(account);
      await setState(account, state, 'us');
      for (const { status, json } of await both(send)) {
        expect([status, json.error.code, json.error.cell]).toEqual([421, 'wrong_cell', 'us']);
        expect(json.error.message).toContain('"us"');
      }
    });

    test('when it is in the cell without a label is told that', async () => {
      const account = await openAccount();
      const send = await prepare(account);
      await setState(account, 'moved', null);
      for (const { status, json } of await both(send)) {
        expect([status, json.error.code]).toEqual([421, 'wrong_cell']);
        expect(json.error).not.toHaveProperty('cell');
        expect(json.error.message).toContain('the cell without a label');
      }
    });
  });

  test('to sign in with a link or a key of an account that has moved is told the cell', async () => {
    const account = await openAccount();
    const key = await service.createKey({ accountUuid: account.accountUuid });
    const { rows } = await service.db.pool.query('select id from api_keys where account_id = $1 limit 1', [
      account.accountUuid,
    ]);
    const link = await createLink(service.db, { ...service.service, ...commandLine }, rows[0].id);
    await setState(account, 'moved');
    for (const body of [{ api_key: key }, { link: link.replace(/^.*#link=/, '') }]) {
      const { status, json } = await call(service, 'POST', '/dashboard/api/session', {
        ...{ key: null, headers: { origin: service.url }, body },
      });
      expect([status, json.error.code, json.error.cell]).toEqual([421, 'wrong_cell', 'us']);
    }
  });
});

describe('a change of the account itself', () => {
  const path = ({ id }: Tenant) => `/v1/operator/accounts/${id}`;

  async function firstKeyOf({ accountUuid }: Tenant): Promise<ApiKeyRow> {
    const [row] = await listKeyRows(service.db, accountUuid);
    return row as ApiKeyRow;
  }

  type Change = (account: Tenant, operator: { url: string; key: string }) => Promise<Reply>;
  const changes: [string, Change][] = [
    [
      'of its settings',
      (account, operator) => call(operator, 'PATCH', path(account), { body: { name: 'X' } }),
    ],
    [
      'that adds a key',
      (account, operator) =>
        call(operator, 'POST', `${path(account)}/api_keys`, { body: { scopes: ['read'] } }),
    ],
    [
      'that revokes a key',
      async (account, operator) => {
        const id = idOfUuid(idPrefixes.apiKey, (await firstKeyOf(account)).id);
        return call(operator, 'DELETE', `${path(account)}/api_keys/${id}`);
      },
    ],
    [
      'that closes it',
      (account, operator) => call(operator, 'DELETE', `${path(account)}?terminate_esims=true`),
    ],
    ['that erases it', (account, operator) => call(operator, 'POST', `${path(account)}/erase`)],
  ];

  // The old cell still has the account's row and keys: what is changed there would not reach the account.
  test.each(changes)('%s is refused by the cell that it leaves or has left', async (_, change) => {
    const operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
    const account = await openAccount();
    await setState(account, 'frozen');
    const frozen = await change(account, operator);
    expect([frozen.status, frozen.headers.get('retry-after')]).toEqual([503, '1']);
    for (const state of ['moved', 'arriving'] as const) {
      await setState(account, state);
      const { status, json } = await change(account, operator);
      expect([status, json.error.code, json.error.cell]).toEqual([421, 'wrong_cell', 'us']);
    }
    expect((await call(operator, 'GET', path(account))).json).toMatchObject({
      ...{ name: 'Tenant', status: 'active' },
    });
    expect((await listKeyRows(service.db, account.accountUuid)).map((row) => row.revoked_at)).toEqual([null]);
  });

  test('is made while it is copied', async () => {
    const operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
    const account = await openAccount();
    await setState(account, 'copying');
    for (const [, change] of changes)
      expect(Math.floor((await change(account, operator)).status / 100)).toBe(2);
  });

  test('that rolls a key is refused too, and an operator’s own key can be rolled', async () => {
    const account = await openAccount();
    await setState(account, 'moved');
    const issuer = { ...service.service, ...commandLine };
    const key = await firstKeyOf(account);
    await expect(service.db.transaction((tx) => replaceKey(tx, issuer, key, {}))).rejects.toMatchObject({
      code: 'wrong_cell',
    });
    await service.createKey({ scopes: ['operator'] });
    const own = (await listKeyRows(service.db, null)).findLast(({ account_id: id }) => id === null);
    const rolled = await service.db.transaction((tx) => replaceKey(tx, issuer, own as ApiKeyRow, {}));
    expect(rolled.row.account_id).toBeNull();
  });
});
