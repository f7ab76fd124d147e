import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { returnProfiles } from '../../src/orders/operator/return-profiles.ts';
import { type ClaimedReturn, claimReturns, settleReturn } from '../../src/orders/operator/sql/executions.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { type Mischief, newIccid, type SmdpCall } from '../support/fake-smdp.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

let setup: SmdpSetup;
let service: TestService;
let operatorKey: string;

beforeAll(async () => {
  setup = await startSmdpSetup({}, { iccids: 'theirs' });
  service = await startService({ mode: 'live', requiresCheckDigit: true });
  operatorKey = await service.createKey({ scopes: ['operator'] });
  service.startWorker(setup.network, { retryScheduleMs: [5, 5], networkTimeoutMs: 2_000 });
});
afterAll(async () => {
  await service.stop();
  await setup.stop();
});
beforeEach(() => setup.smdp.onCall(() => undefined));

const operator = (method: string, path: string, body?: object, idempotencyKey?: string) =>
  call(service, method, `/v1/operator/${path}`, {
    key: operatorKey,
    ...(body && { body }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
const resolve = (id: string, body: object, key?: string) =>
  operator('POST', `executions/${id}/resolve`, body, key);
const retry = (id: string) => operator('POST', `executions/${id}/retry`);

async function ended(id: string) {
  const look = async () => (await call(service, 'GET', `/v1/executions/${id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

/** Lets the first call of this function go wrong. */
function meet(name: SmdpCall['name'], mischief: Mischief): void {
  let isFirst = true;
  setup.smdp.onCall((made) => {
    if (made.name !== name || !isFirst) return undefined;
    isFirst = false;
    return mischief;
  });
}

let orders = 0;

/** An order whose answer is lost after the SM-DP+ has reserved a profile, and that profile. */
async function loseOrder(body: object = {}, mischief: Mischief = 'lose') {
  const before = new Set(setup.smdp.profiles.keys());
  meet('downloadOrder', mischief);
  const wanted = { product_id: 'prod_europe_5gb_30d', metadata: { order: `A-${++orders}` }, ...body };
  const { json } = await provision(service, undefined, wanted);
  const execution = await ended(json.id);
  expect(execution.error).toMatchObject({ code: 'outcome_unknown' });
  const profile = [...setup.smdp.profiles.values()].find(({ iccid }) => !before.has(iccid));
  return { id: execution.id as string, execution, profile, iccid: profile?.iccid as string };
}

const stateOf = (iccid: string) => setup.smdp.profiles.get(iccid)?.state;
const callsOf = (name: SmdpCall['name'], iccid: string) =>
  setup.smdp.calls.filter((made) => made.name === name && made.body['iccid'] === iccid);

const giveBackDue = (overrides: Partial<Parameters<typeof returnProfiles>[0]> = {}) =>
  returnProfiles(
    {
      ...{ db: service.db, clock: service.clock, network: setup.network },
      ...{ networkTimeoutMs: 2_000, retryScheduleMs: [0, 0, 0] },
      onError: (error) => service.logLines.push(String(error)),
      ...overrides,
    },
    new AbortController().signal,
  );

/** What was done about an order after it was accepted. */
async function auditOf(id: string) {
  return service.db.query<{ action: string; actor_type: string; changes: object; account_id: string }>(
    {
      name: 'test_audit',
      text: `
select action, actor_type, changes, account_id
from audit_log
where target_id = $1 and action <> 'esim.ordered'
order by id`,
    },
    [id],
  );
}

describe('the operator finds an order with unknown outcome', () => {
  test('among those of all accounts, with its call id and the host, which the account does not see', async () => {
    const { id, execution } = await loseOrder();
    const { json } = await operator('GET', 'executions?error_code=outcome_unknown&limit=100');
    const found = json.data.find((one: { id: string }) => one.id === id);
    const uuid = setup.smdp.calls.at(-1)?.callId.split('.')[0];
    expect(found).toMatchObject({
      account_id: idOfUuid('acct', service.accountUuid),
      status: 'failed',
      steps: [{ name: 'order', function_call_identifier: `${uuid}.order`, status: 'failed' }],
      last_error: { step: 'order', network: `127.0.0.1:${setup.smdp.port}` },
      resolution: null,
      failure_group: expect.stringMatching(/^fg_[0-9a-f]{24}$/),
    });
    expect(found.last_error.message).toContain(`127.0.0.1:${setup.smdp.port}`);
    expect((await operator('GET', `executions/${id}`)).json).toEqual(found);
    expect(JSON.stringify(execution)).not.toMatch(/127\.0\.0\.1|SIMPLANE_/);
    expect(JSON.stringify(found)).not.toContain('matching_id');
    // A worker that died before it failed the order would otherwise leave one that may be sent again.
    const text = `select progress -> 'sent_order' as sent from executions where id = $1`;
    expect((await service.db.pool.query(text, [uuidOfId('exec', id)])).rows).toEqual([{ sent: true }]);
    const own = await call(service, 'GET', '/v1/executions?error_code=outcome_unknown');
    expect(own.json.data[0]).toEqual(execution);
    expect((await call(service, 'GET', '/v1/executions?error_code=declined')).json.data).toEqual([]);
    expect(
      (await call(service, 'GET', '/v1/executions?error_code=declined&status=queued')).json.data,
    ).toEqual([]);
  });

  test('and must resolve it before it can be retried', async () => {
    const { id } = await loseOrder();
    expect((await retry(id)).json.error).toMatchObject({
      code: 'state_conflict',
      message: expect.stringContaining('Resolve it first'),
    });
  });
});

describe('a reserved profile that is adopted', () => {
  test('becomes the one eSIM, without a second order, and the failed order shows what went on', async () => {
    const eid = '89049032123451234512345678901235';
    const { id, iccid } = await loseOrder({ eid });
    const ordersBefore = setup.smdp.calls.filter(({ name }) => name === 'downloadOrder').length;
    const decision = { outcome: 'reserved', iccid, then: 'adopt' };
    const { status, json } = await resolve(id, decision, `adopt-${id}`);
    expect([status, json.status]).toEqual([200, 'failed']);
    expect(json.resolution).toMatchObject({
      ...decision,
      status: 'closed',
      decided_by: { type: 'operator', name: 'Test' },
    });
    expect((await resolve(id, decision, `adopt-${id}`)).json).toEqual(json);
    const next = await ended(json.retried_by);
    expect(next).toMatchObject({ status: 'succeeded', iccid, retry_of: id });
    expect((await call(service, 'GET', `/v1/executions/${id}`)).json).toMatchObject({
      status: 'failed',
      retried_by: next.id,
    });
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json).toMatchObject({
      status: 'provisioned',
      metadata: { order: `A-${orders}` },
      eid,
    });
    expect(stateOf(iccid)).toBe('Released');
    const install = await call(service, 'GET', `/v1/esims/${iccid}/install`);
    expect(install.json.matching_id).toBe(setup.smdp.profiles.get(iccid)?.matchingId);
    expect(setup.smdp.calls.filter(({ name }) => name === 'downloadOrder')).toHaveLength(ordersBefore);
    const events = await call(service, 'GET', '/v1/events?limit=100');
    const ofOrder = events.json.data.filter((event: { data: { execution_id: string } }) =>
      [id, next.id].includes(event.data.execution_id),
    );
    expect(ofOrder.map(({ type }: { type: string }) => type)).toEqual([
      'esim.provisioned',
      'esim.provisioning_failed',
    ]);
    expect(await auditOf(id)).toMatchObject([
      { action: 'execution.resolved', actor_type: 'operator', changes: { iccid, retried_by: next.id } },
    ]);
  });

  test('is given back if it cannot be confirmed', async () => {
    const { id, iccid } = await loseOrder();
    meet('confirmOrder', { code: '8.1.1/2.2' });
    const { json } = await resolve(id, { outcome: 'reserved', iccid, then: 'adopt' });
    expect(await ended(json.retried_by)).toMatchObject({ status: 'failed', error: { code: 'declined' } });
    expect(stateOf(iccid)).toBe('Unavailable');
  });

  test('is left alone if it turns out to be someone else’s', async () => {
    const { id } = await loseOrder();
    const iccid = newIccid(70_000 + orders);
    const theirs = { profileType: 'x', reservations: 1, matchingId: null, eid: null };
    setup.smdp.profiles.set(iccid, { ...theirs, iccid, state: 'Downloaded' });
    setup.smdp.onCall(({ name }) => (name === 'confirmOrder' ? { code: '8.2.1/3.3' } : undefined));
    const { json } = await resolve(id, { outcome: 'reserved', iccid, then: 'adopt' });
    expect(await ended(json.retried_by)).toMatchObject({
      status: 'failed',
      error: { code: 'state_conflict' },
    });
    expect(callsOf('cancelOrder', iccid)).toEqual([]);
    const { json: shown } = await operator('GET', `executions/${json.retried_by}`);
    expect(shown.steps.map(({ name }: { name: string }) => name)).not.toContain('undo');
  });

  test('is not adopted for an order with a confirmation code, which was deleted when it failed', async () => {
    const { id, iccid } = await loseOrder({ confirmation_code: '4711' });
    const { status, json } = await resolve(id, { outcome: 'reserved', iccid, then: 'adopt' });
    expect([status, json.error.code]).toEqual([409, 'state_conflict']);
    expect(json.error.message).toMatch(/confirmation code/);
    expect((await resolve(id, { outcome: 'not_reserved' })).status).toBe(200);
  });

  test('needs an ICCID that is complete, correct and nobody’s', async () => {
    const { id, iccid } = await loseOrder();
    const other = await ended((await provision(service)).json.id);
    const wrong = `${iccid.slice(0, -1)}${(Number(iccid.at(-1)) + 1) % 10}`;
    const refusals: [object, number, string, string][] = [
      [{ outcome: 'reserved', then: 'adopt' }, 400, 'parameter_missing', 'iccid'],
      [{ outcome: 'reserved', iccid }, 400, 'parameter_missing', 'then'],
      [{ outcome: 'not_reserved', iccid }, 400, 'parameter_invalid', 'iccid'],
      [{ outcome: 'not_reserved', then: 'cancel' }, 400, 'parameter_invalid', 'then'],
      [{ outcome: 'reserved', iccid: wrong, then: 'cancel' }, 400, 'parameter_invalid', 'iccid'],
      [{ outcome: 'reserved', iccid: other.iccid, then: 'adopt' }, 409, 'state_conflict', 'iccid'],
      [{ outcome: 'reserved', iccid: other.iccid, then: 'cancel' }, 409, 'state_conflict', 'iccid'],
    ];
    for (const [body, status, code, param] of refusals) {
      const { status: answered, json } = await resolve(id, body);
      expect([body, answered, json.error]).toMatchObject([body, status, { code, param }]);
    }
    expect(await auditOf(id)).toEqual([]);
    expect((await operator('GET', `executions/${id}`)).json.resolution).toBeNull();
    expect(stateOf(other.iccid)).toBe('Released');
    // Where the SM-DP+ assigns ICCIDs without a check digit, SIMPLANE_ES2_ICCID_CHECK=none accepts them.
    const lenient = await startService({ mode: 'live', databaseUrl: service.databaseUrl });
    const { status, json } = await call(lenient, 'POST', `/v1/operator/executions/${id}/resolve`, {
      key: await service.createKey({ scopes: ['operator'] }),
      body: { outcome: 'reserved', iccid: wrong, then: 'adopt' },
    });
    expect([status, json.resolution]).toMatchObject([200, { iccid: wrong, then: 'adopt' }]);
    await lenient.stop();
  });
});

describe('a reserved profile that is canceled', () => {
  test('is given back by a worker, which goes on until the network has answered', async () => {
    const { id, iccid } = await loseOrder();
    const { json } = await resolve(id, { outcome: 'reserved', iccid, then: 'cancel' });
    expect(json).toMatchObject({ status: 'failed', resolution: { status: 'canceling', attempts: 0 } });
    expect(json.retried_by).toBeUndefined();
    meet('cancelOrder', 'lose');
    await giveBackDue();
    expect((await operator('GET', `executions/${id}`)).json.resolution).toMatchObject({
      status: 'canceling',
      attempts: 1,
      error: { code: 'network_unavailable' },
    });
    await giveBackDue();
    const { resolution } = (await operator('GET', `executions/${id}`)).json;
    expect(resolution).toMatchObject({ status: 'closed', attempts: 2, error: null });
    expect(stateOf(iccid)).toBe('Unavailable');
    const ids = new Set(callsOf('cancelOrder', iccid).map(({ callId }) => callId));
    expect([...ids]).toEqual([resolution.function_call_identifier]);
    expect(await giveBackDue()).toBe(0);
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).status).toBe(404);
  });

  test('is held by one worker at a time, and a refusal of the network is shown', async () => {
    const { id, iccid } = await loseOrder();
    await resolve(id, { outcome: 'reserved', iccid, then: 'cancel' });
    let answer = () => {};
    const asked = new Promise<void>((isAsked) =>
      setup.smdp.onCall(
        () =>
          new Promise<Mischief>((answered) => {
            answer = () => answered({ code: '8.2.1/1.2' });
            isAsked();
          }),
      ),
    );
    const first = giveBackDue();
    await asked;
    expect(await giveBackDue()).toBe(0);
    const second = await resolve(id, { outcome: 'not_reserved' });
    expect(second.json.error.code).toBe('state_conflict');
    answer();
    await first;
    expect((await operator('GET', `executions/${id}`)).json.resolution).toMatchObject({
      status: 'refused',
      error: { code: 'declined', upstream: { subject_code: '8.2.1' } },
    });
  });
});

describe('profiles to give back', () => {
  const statusOf = async (id: string) => (await operator('GET', `executions/${id}`)).json.resolution.status;

  test('wait after each failure as long as the schedule says, and then an hour each time', async () => {
    const { id, iccid } = await loseOrder();
    await resolve(id, { outcome: 'reserved', iccid, then: 'cancel' });
    setup.smdp.onCall(({ name }) => (name === 'cancelOrder' ? 'lose' : undefined));
    for (const [atLeast, atMost] of [
      [540, 600],
      [3_540, 3_600],
    ] as const) {
      expect(await giveBackDue({ retryScheduleMs: [600_000] })).toBe(1);
      expect(await giveBackDue()).toBe(0);
      const { rows } = await service.db.pool.query(
        `with waiting as (
           select extract(epoch from due_at - now())::float as seconds from execution_resolutions where closed_at is null),
         made_due as (update execution_resolutions set due_at = now() where closed_at is null)
         select seconds from waiting`,
      );
      expect(rows).toHaveLength(1);
      expect(rows[0].seconds).toBeGreaterThan(atLeast);
      expect(rows[0].seconds).toBeLessThanOrEqual(atMost);
    }
    setup.smdp.onCall(() => undefined);
    await giveBackDue();
    expect(await statusOf(id)).toBe('closed');
  });

  test('are closed although the result of another could not be stored, with the EID of their orders', async () => {
    const eid = '89049032123451234512345678901235';
    const lost = [await loseOrder({ eid }), await loseOrder({ eid })];
    for (const { id, iccid } of lost) await resolve(id, { outcome: 'reserved', iccid, then: 'cancel' });
    let settled = 0;
    const query: typeof service.db.query = (statement, values) =>
      statement.name === 'execution_settle_return' && ++settled === 1
        ? Promise.reject(new Error('the connection was lost'))
        : service.db.query(statement, values);
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    expect(await giveBackDue({ db: { ...service.db, query }, onError })).toBe(2);
    expect(errors).toEqual([new Error('the connection was lost')]);
    const statuses = await Promise.all(lost.map(({ id }) => statusOf(id)));
    expect(statuses.sort()).toEqual(['canceling', 'closed']);
    for (const { iccid } of lost) expect(callsOf('cancelOrder', iccid)).toMatchObject([{ body: { eid } }]);
    await service.db.pool.query(
      'update execution_resolutions set leased_until = null where closed_at is null',
    );
    await giveBackDue();
  });
});

describe('a profile to give back whose worker took too long', () => {
  test('is settled by the worker that has taken it over, and by no other', async () => {
    const { id, iccid } = await loseOrder();
    await resolve(id, { outcome: 'reserved', iccid, then: 'cancel' });
    const claim = async () => (await claimReturns(service.db, 1, 60_000))[0] as ClaimedReturn;
    const status = async () => (await operator('GET', `executions/${id}`)).json.resolution.status;
    const closed = { closedAt: new Date(), delayMs: 0, error: null };
    await service.db.transaction(async (tx) => {
      const text = 'select from execution_resolutions where closed_at is null for update';
      await tx.query({ name: 'test_hold_returns', text });
      expect(await claimReturns(service.db, 1, 60_000)).toEqual([]); // without waiting
    });
    const former = await claim();
    await service.db.pool.query(
      'update execution_resolutions set leased_until = now() where closed_at is null',
    );
    const holder = await claim();
    expect(holder.execution_id).toBe(former.execution_id);
    await settleReturn(service.db, former, closed);
    expect(await status()).toBe('canceling');
    await settleReturn(service.db, holder, closed);
    expect(await status()).toBe('closed');
  });
});

describe('a decision', () => {
  test('that nothing was reserved allows a retry, which is a new order', async () => {
    const { id } = await loseOrder({}, { status: 500, isDone: false });
    expect((await resolve(id, { outcome: 'not_reserved' })).json.resolution).toMatchObject({
      outcome: 'not_reserved',
      iccid: null,
      status: 'closed',
    });
    const { status, headers, json } = await retry(id);
    expect([status, json.retry_of]).toEqual([202, id]);
    expect(headers.get('location')).toBe(`/v1/operator/executions/${json.id}`);
    const next = await ended(json.id);
    expect(next).toMatchObject({ status: 'succeeded', retry_of: id });
    expect((await call(service, 'GET', `/v1/esims/${next.iccid}`)).json.metadata).toEqual({
      order: `A-${orders}`,
    });
    expect((await retry(id)).json.error.message).toContain(next.id);
    expect((await retry(next.id)).json.error.message).toContain('succeeded');
    expect((await auditOf(id)).map(({ action }) => action)).toEqual([
      'execution.resolved',
      'execution.retried',
    ]);
  });

  test('is made once, also by several operators at the same time', async () => {
    const { id, iccid } = await loseOrder();
    const decisions = [
      { outcome: 'reserved', iccid, then: 'adopt' },
      { outcome: 'not_reserved' },
      { outcome: 'reserved', iccid, then: 'cancel' },
      { outcome: 'reserved', iccid, then: 'adopt' },
    ];
    const answers = await Promise.all(decisions.map((decision) => resolve(id, decision)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const retries = await service.db.query(
      { name: 'test_retries', text: `select 1 from executions where input ->> 'retry_of' = $1` },
      [uuidOfId('exec', id)],
    );
    expect(retries.length).toBeLessThanOrEqual(1);
    expect(await auditOf(id)).toHaveLength(1);
    await giveBackDue();
  });

  test('gives one profile to one order, also if two operators name the same one at the same time', async () => {
    const [one, other] = [await loseOrder(), await loseOrder()];
    const decision = { outcome: 'reserved', iccid: one.iccid, then: 'adopt' };
    const answers = await Promise.all([resolve(one.id, decision), resolve(other.id, decision)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409) as Reply;
    expect(refused.json.error).toMatchObject({ code: 'state_conflict', param: 'iccid' });
  });

  test('is refused while a worker holds the execution, and if the outcome is known', async () => {
    let answer = () => {};
    setup.smdp.onCall(
      () =>
        new Promise<undefined>((answered) => {
          answer = () => answered(undefined);
        }),
    );
    const { json: running } = await provision(service);
    await until(
      async () => (await call(service, 'GET', `/v1/executions/${running.id}`)).json,
      ({ status }) => status === 'running',
    );
    expect((await resolve(running.id, { outcome: 'not_reserved' })).json.error.message).toMatch(/not ended/);
    expect((await retry(running.id)).json.error.message).toMatch(/right now/);
    await until(
      async () => setup.smdp.calls.at(-1)?.name,
      (name) => name === 'downloadOrder',
    );
    setup.smdp.onCall(() => undefined);
    answer();
    expect((await ended(running.id)).status).toBe('succeeded');
    expect((await resolve(running.id, { outcome: 'not_reserved' })).json.error.message).toMatch(/succeeded/);
    meet('downloadOrder', { code: '8.2.5/3.7' });
    const refused = await ended((await provision(service)).json.id);
    expect((await resolve(refused.id, { outcome: 'not_reserved' })).json.error.message).toMatch(
      /out_of_stock/,
    );
  });
});
