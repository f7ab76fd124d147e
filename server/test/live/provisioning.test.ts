import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCatalog } from '../../src/accounts/products/import-catalog.ts';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { type Mischief, newIccid, type SmdpCall, startFakeSmdp } from '../support/fake-smdp.ts';
import { downloadFailure } from '../support/profile-failure.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const product = {
  name: 'Europe 5 GB',
  countries: ['DE'],
  data_bytes: 5_000_000_000,
  validity_days: 30,
  price: { amount: 999, currency: 'eur' },
  speeds: ['4G'],
  active: true,
  listed: true,
};

type Step = SmdpCall['name'];
/** `kept`: nothing proves that the reservation is ours, so it is not canceled. */
type End = 'one profile' | 'failure' | 'unknown' | 'kept';

const codes: [string, string, string][] = [
  ['8.2.1/3.9', 'declined', 'does not know this ICCID'],
  ['8.2.1/3.3', 'state_conflict', 'not available'],
  ['8.2.1/3.5', 'state_conflict', 'cannot be released'],
  ['8.2.1/1.2', 'declined', 'does not allow'],
  ['8.2.5/3.7', 'out_of_stock', 'no profiles of this type left'],
  ['8.2.5/3.9', 'declined', 'profile type'],
  ['8.2.6/3.3', 'state_conflict', 'matching id is in use'],
  ['8.2.6/3.10', 'state_conflict', 'another matching id'],
  ['8.1.1/2.2', 'declined', 'with `eid`'],
  ['8.1.1/3.10', 'state_conflict', 'another EID'],
  ['9.9.9/7.7', 'declined', 'codes 9.9.9/7.7'],
];

const setups: Record<string, Parameters<typeof startSmdpSetup>> = {
  'our own ICCIDs': [{ refusesRepeatedConfirm: '8.2.1/3.3' }, { iccids: 'ours' }],
  'our own ICCIDs, released separately': [
    { refusesRepeatedConfirm: '8.2.1/3.5', smdpAddress: null },
    { iccids: 'ours', releasesOnConfirm: false },
  ],
  'its ICCIDs, padded, without deduplication': [
    { padsIccids: true, refusesRepeatedConfirm: '8.2.6/3.3' },
    { iccids: 'theirs' },
  ],
  'its ICCIDs, deduplicating calls': [{ recognisesCalls: true }, { iccids: 'theirs', recognisesCalls: true }],
};

type Outcome = {
  execution: Reply['json'];
  profiles: ReturnType<SmdpSetup['smdp']['reservedOf']>;
  productId: string;
};

/** A live deployment on one of the setups. */
async function startLive(name: string, networkTimeoutMs: number) {
  const setup = await startSmdpSetup(...(setups[name] ?? []));
  const service = await startService({ mode: 'live' });
  const mischiefs = new Map<string, (made: SmdpCall) => Mischief | undefined>();
  setup.smdp.onCall((made) => mischiefs.get(made.profileType)?.(made));
  service.startWorker(setup.network, {
    networkTimeoutMs,
    retryScheduleMs: Array.from({ length: 6 }, () => 5),
  });
  let count = 0;
  return {
    service,
    setup,

    /** Orders a separate product whose calls meet the mischief, and returns the result here and at the SM-DP+. */
    async order(mischief: (seen: SmdpCall, count: number) => Mischief | undefined): Promise<Outcome> {
      const productId = `product-${count++}`;
      await importCatalog(service.db, service.service, [{ ...product, id: productId }] as never);
      const seen = new Map<string, number>();
      mischiefs.set(productId, (made) => {
        seen.set(made.name, (seen.get(made.name) ?? 0) + 1);
        return mischief(made, seen.get(made.name) as number);
      });
      const execution = await finished(
        service,
        await provision(service, undefined, { product_id: productId }),
      );
      return { execution, profiles: setup.smdp.reservedOf(productId), productId };
    },

    /** Always one profile or one clear failure, and never a second order. */
    async check({ execution, profiles, productId }: Outcome, end: End): Promise<void> {
      expect(profiles.length).toBeLessThanOrEqual(1);
      for (const { reservations } of profiles) expect(reservations).toBe(1);
      const events = await service.db.query<{ type: string }>(
        {
          name: 'events_of_execution',
          text: `select type from events where body::jsonb -> 'data' ->> 'execution_id' = $1`,
        },
        [execution.id],
      );
      if (end === 'one profile') {
        expect(execution).toMatchObject({ status: 'succeeded' });
        expect(profiles).toMatchObject([
          { iccid: execution.iccid, state: 'Released', profileType: productId },
        ]);
        const install = await call(service, 'GET', `/v1/esims/${execution.iccid}/install`);
        expect(install.json).toMatchObject({
          matching_id: profiles[0]?.matchingId,
          smdp_address: expect.stringMatching(/^(rsp|fallback)\.example\.com$/),
        });
        expect(events).toEqual([{ type: 'esim.provisioned' }]);
        return;
      }
      expect(execution.status).toBe('failed');
      expect(execution.error.message.length).toBeGreaterThan(30);
      expect(events).toEqual([{ type: 'esim.provisioning_failed' }]);
      if (end === 'unknown') {
        expect(execution.error).toMatchObject({ code: 'outcome_unknown', retryable: false });
        const id = execution.error.upstream.function_call_identifier;
        expect(setup.smdp.calls.some(({ callId }) => callId === id)).toBe(true);
        expect(execution.error.message).toContain(id);
      } else {
        // A canceled profile must not become available to another order.
        const state = end === 'kept' ? 'Allocated' : 'Unavailable';
        expect(profiles.map((profile) => profile.state)).toEqual(profiles.map(() => state));
      }
    },

    async stop() {
      await service.stop();
      await setup.stop();
    },
  };
}

async function finished(service: TestService, { json }: Reply) {
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

describe.concurrent.each(Object.keys(setups))('an SM-DP+ with %s', (name) => {
  const forgets = name === 'its ICCIDs, padded, without deduplication';
  const releases = name === 'our own ICCIDs, released separately';
  let live: Awaited<ReturnType<typeof startLive>>;
  const order: typeof live.order = (mischief) => live.order(mischief);
  const check: typeof live.check = (outcome, end) => live.check(outcome, end);
  beforeAll(async () => {
    live = await startLive(name, 30_000);
  });
  afterAll(() => live.stop());

  const steps: Step[] = ['downloadOrder', 'confirmOrder', ...(releases ? ['releaseProfile' as const] : [])];
  const oneTime: [string, Mischief][] = [
    ['is lost', 'lose'],
    ['is cut off midway', 'truncate'],
    ['is a connection reset', 'reset'],
    ['is HTML', 'html'],
    ['is huge', 'huge'],
    ['is HTTP 500 after the work', { status: 500, isDone: true }],
    ['is HTTP 503 before the work', { status: 503, isDone: false }],
    ['is HTTP 408 after the work', { status: 408, isDone: true }],
    ['is a redirect', { status: 302, isDone: false }],
    ['is Expired', { expired: true }],
    ['is an execution error', { code: '8.2/4.2' }],
    ['is a system that was not reached', { code: '8.2/5.1' }],
    ['is a timeout at the SM-DP+', { code: '8.2/4.10' }],
    ['lacks its header', { answer: { header: {} } }],
  ];
  // The other two setups handle a lost answer differently, but it can be lost in the same ways.
  const chosen = forgets || releases ? oneTime : oneTime.filter(([title]) => /lost|500/.test(title));
  const cases = steps.flatMap((step) => chosen.map(([title, mischief]) => [step, title, mischief] as const));

  test('provisions', async () => {
    await check(await order(() => undefined), 'one profile');
  });

  test.each(cases)('%s whose answer %s once orders nothing twice', async (step, title, mischief) => {
    const outcome = await order((made, times) => (made.name === step && times === 1 ? mischief : undefined));
    const reportsFailure = /error|not reached|503/.test(title);
    const isUnknown = forgets && step === 'downloadOrder' && !reportsFailure;
    await check(outcome, isUnknown ? 'unknown' : 'one profile');
  });

  test.each(steps)('%s that is answered twice does not affect later calls', async (step) => {
    await check(await order((made) => (made.name === step ? 'twice' : undefined)), 'one profile');
  });

  test('an order that was rejected with HTTP 403 is retried', async () => {
    const outcome = await order((_, times) => (times === 1 ? { status: 403, isDone: false } : undefined));
    await check(outcome, 'one profile');
  });

  test.each(steps)('%s whose answers are all lost ends in one failure', async (step) => {
    const outcome = await order((made) => (made.name === step ? { status: 500, isDone: false } : undefined));
    const isUnknown = step === 'downloadOrder' && !name.startsWith('our own');
    await check(outcome, isUnknown ? 'unknown' : 'failure');
    if (!isUnknown) {
      expect(outcome.execution.error).toMatchObject({
        code: 'network_unavailable',
        upstream: { status: '500' },
      });
    }
  });

  test('an order that is executed but never answered ends in one failure and cancels nothing', async () => {
    const outcome = await order((made) =>
      made.name === 'downloadOrder' ? { status: 500, isDone: true } : undefined,
    );
    await check(outcome, name.startsWith('our own') ? 'kept' : 'unknown');
    expect(outcome.profiles).toHaveLength(1);
  });

  // The meaning of a code does not depend on the ICCID source; the rollback does.
  test.each(forgets || releases ? codes : [])(
    '%s is a failure with cause, remedy and codes, and leaves no profile reserved',
    async (code, ours, says) => {
      const [subject_code, reason_code] = code.split('/');
      const meet = async (step: Step) => {
        const outcome = await order((made) => (made.name === step ? { code } : undefined));
        // A profile that someone else has confirmed is not ours to cancel.
        const belongsToOther = code === '8.2.6/3.10' && step === 'confirmOrder';
        await check(outcome, belongsToOther ? 'kept' : 'failure');
        expect(outcome.execution).toMatchObject({
          attempts: 1,
          error: {
            code: ours,
            message: expect.stringContaining(says),
            upstream: { subject_code, reason_code, function: step },
          },
        });
      };
      await Promise.all(steps.map(meet));
    },
  );

  test.each<[string, string | null]>([
    ...(name.startsWith('our own') ? [['another ICCID', '8999909000000000000'] as [string, string]] : []),
    ['half an ICCID', '8999909'],
    ['the ICCID of another eSIM', null],
  ])('an answer to an order with %s is rejected', async (_, wrong) => {
    const first = await order(() => undefined);
    const answer = { iccid: wrong ?? first.execution.iccid };
    const outcome = await order((made) => (made.name === 'downloadOrder' ? { answer } : undefined));
    expect(outcome.execution).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown' } });
    expect(outcome.execution.iccid).not.toBe(first.execution.iccid);
    expect(outcome.profiles).toHaveLength(1);
    await check(first, 'one profile');
  });

  test.each([
    ['a matching id that would change the activation code', { matchingId: 'A$evil.example$B' }],
    ['a matching id in lower case', { matchingId: 'abc' }],
    ['an invalid address', { smdpAddress: 'rsp.example.com$X' }],
  ])('an answer to a confirmation with %s is rejected', async (_, answer) => {
    await check(await order((made) => (made.name === 'confirmOrder' ? { answer } : undefined)), 'failure');
  });
});

// If a slow machine makes the short timeout abort a good answer as well, that is one more lost answer.
describe.concurrent.each(Object.keys(setups))('an SM-DP+ that lets calls hang, with %s', (name) => {
  test('orders nothing twice', async () => {
    const live = await startLive(name, 2_000);
    const meet = async (step: Step) => {
      const outcome = await live.order((made, times) =>
        made.name === step && times === 1 ? 'hang' : undefined,
      );
      const isUnknown = outcome.execution.error?.code === 'outcome_unknown';
      await live.check(outcome, isUnknown ? 'unknown' : 'one profile');
      if (name !== 'its ICCIDs, padded, without deduplication') expect(isUnknown).toBe(false);
      else if (step === 'downloadOrder') expect(isUnknown).toBe(true);
    };
    await Promise.all([meet('downloadOrder'), meet('confirmOrder')]);
    await live.stop();
  });
});

describe('where repeating an order could reserve a second profile', () => {
  test('an order is retried if no connection was established', async () => {
    const setup = await startSmdpSetup({}, { iccids: 'theirs' });
    const service = await startService({ mode: 'live' });
    const { port } = setup.smdp;
    await setup.smdp.stop();
    service.startWorker(setup.network);
    const accepted = await provision(service);
    const look = async () => (await call(service, 'GET', `/v1/executions/${accepted.json.id}`)).json;
    await until(
      async () => setup.troubles,
      ({ length }) => length >= 2,
    );
    const back = await startFakeSmdp({ tls: setup.tls.server, port });
    expect(await until(look, ({ status }) => status !== 'running' && status !== 'queued')).toMatchObject({
      status: 'succeeded',
    });
    expect(back.calls.filter(({ name }) => name === 'downloadOrder')).toHaveLength(1);
    await service.stop();
    await back.stop();
    await setup.stop();
  });
});

describe('terminate', () => {
  let service: TestService;
  let setup: SmdpSetup;
  beforeAll(async () => {
    setup = await startSmdpSetup();
    service = await startService({ mode: 'live' });
    service.startWorker(setup.network);
  });
  afterAll(async () => {
    await service.stop();
    await setup.stop();
  });

  async function provisioned() {
    const { iccid } = await finished(service, await provision(service));
    return setup.smdp.profiles.get(iccid) as NonNullable<ReturnType<typeof setup.smdp.profiles.get>>;
  }

  const cancels = (iccid: string) =>
    setup.smdp.calls.filter(({ name, body }) => name === 'cancelOrder' && body['iccid'] === iccid);

  async function terminate(iccid: string) {
    const execution = await finished(service, await call(service, 'DELETE', `/v1/esims/${iccid}`));
    expect(execution).toMatchObject({ status: 'succeeded', type: 'esim.terminate' });
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json.status).toBe('terminated');
  }

  test('cancels a profile that no device has downloaded, for good', async () => {
    const profile = await provisioned();
    await terminate(profile.iccid);
    expect(profile.state).toBe('Unavailable');
  });

  test('succeeds when the answer of cancelOrder is lost', async () => {
    const profile = await provisioned();
    setup.smdp.onCall(({ name, body }) =>
      name === 'cancelOrder' && cancels(body['iccid'] as string).length === 1 ? 'lose' : undefined,
    );
    await terminate(profile.iccid);
    expect(profile.state).toBe('Unavailable');
    expect(cancels(profile.iccid)).toHaveLength(2);
  });

  test('makes no call for a profile that a device has downloaded', async () => {
    const profile = await provisioned();
    const report = { iccid: profile.iccid, kind: 'profile', state: 'downloaded', at: new Date() } as const;
    expect(await createObservationHandler(service.service)(report)).toBe(true);
    await terminate(profile.iccid);
    expect(cancels(profile.iccid)).toEqual([]);
  });

  test('cancels the profile even if a failed download reported an EID that the order did not have', async () => {
    const profile = await provisioned();
    const eid = '89882119900000000000000000001654';
    const failed = { state: 'error', failure: downloadFailure } as const;
    const report = { iccid: profile.iccid, kind: 'profile', at: new Date(), eid, ...failed } as const;
    await createObservationHandler(service.service)(report);
    await terminate(profile.iccid);
    expect(profile.state).toBe('Unavailable');
  });

  test('succeeds when the profile was downloaded without a notification', async () => {
    const profile = await provisioned();
    profile.state = 'Downloaded';
    await terminate(profile.iccid);
    expect(profile.state).toBe('Downloaded');
  });

  test('fails with the reason when the SM-DP+ refuses it, and the eSIM does not change', async () => {
    const profile = await provisioned();
    setup.smdp.onCall(({ name }) => (name === 'cancelOrder' ? { code: '8.2.1/1.2' } : undefined));
    const execution = await finished(service, await call(service, 'DELETE', `/v1/esims/${profile.iccid}`));
    expect(execution).toMatchObject({
      status: 'failed',
      error: { code: 'declined', upstream: { function: 'cancelOrder', reason_code: '1.2' } },
    });
    expect((await call(service, 'GET', `/v1/esims/${profile.iccid}`)).json.status).toBe('provisioned');
  });
});

test('the operator’s log has no secrets', async () => {
  const setup = await startSmdpSetup();
  setup.smdp.onCall(() => ({ code: '8.2.6/3.3' }));
  const secrets = { matchingId: 'AB-12-CD', confirmationCode: '47114711' }; // longer than the host's port
  const signal = new AbortController().signal;
  await setup.network.confirm({
    ...{ id: 'x.confirm', attempt: 1, signal, productId: 'p', profileType: 'p', eid: null },
    ...secrets,
    iccid: newIccid(9),
  });
  expect(setup.troubles).toHaveLength(1);
  expect(JSON.stringify(setup.troubles)).not.toMatch(/AB-12-CD|47114711/);
  await setup.stop();
});
