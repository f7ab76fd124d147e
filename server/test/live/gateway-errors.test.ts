import { afterEach, expect, test } from 'vitest';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import type { Mischief } from '../support/fake-smdp.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Started = { service: TestService; setup: SmdpSetup; pauses: (number | null)[] };

async function start(
  iccids: 'ours' | 'theirs',
  { pauseMs = 200, afterFailures = 3, retryScheduleMs = [5, 5] } = {},
  options: Parameters<typeof startSmdpSetup>[1] = {},
): Promise<Started> {
  const setup = await startSmdpSetup({}, { iccids, ...options });
  const service = await startService({ mode: 'live' });
  stops.push(service.stop, setup.stop);
  const pauses: (number | null)[] = [];
  service.startWorker(setup.network, {
    retryScheduleMs,
    pause: { afterFailures, pauseMs },
    onPause: (ms) => void pauses.push(ms),
  });
  return { service, setup, pauses };
}

async function finished(service: TestService, { json }: Reply) {
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

const openOrders = async ({ db }: TestService) =>
  db.query<{ fence: number; attempts: number }>({
    name: 'test_open',
    text: `select fence, attempts from execution_queue where type = 'esim.provision'`,
  });

/** Holds a call until `open`, then gives it this fault. */
function gate() {
  let [open, reach] = [() => {}, () => {}];
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const pass = (fault: Mischief): Promise<Mischief> => {
    reach();
    return opened.then(() => fault);
  };
  return { open, reached, pass };
}

test.each<[number, boolean]>([
  [502, false],
  [503, false],
  [504, true],
])(
  'orders wait out a gateway that answers %i, whoever did the work, and use up no attempts',
  async (status, isDone) => {
    const { service, setup, pauses } = await start('ours');
    setup.smdp.onCall(() => ({ status, isDone }));
    const orders = await Promise.all(Array.from({ length: 12 }, () => provision(service)));
    // Without the pause, every order would have failed long before the third one.
    await until(
      async () => pauses.length,
      (count) => count >= 3,
    );
    expect(await openOrders(service)).toHaveLength(12);
    setup.smdp.onCall(() => undefined);
    for (const order of orders) {
      const execution = await finished(service, order);
      expect(execution.status).toBe('succeeded');
      expect(execution.attempts).toBeLessThanOrEqual(3);
    }
    expect(pauses.at(-1)).toBe(null);
    for (const { reservations } of setup.smdp.profiles.values()) expect(reservations).toBe(1);
  },
);

test('while the network is paused, no order is claimed or sent, and other work goes on', async () => {
  const { service, setup, pauses } = await start('ours', { pauseMs: 600_000, afterFailures: 2 });
  const { iccid } = await finished(service, await provision(service));
  setup.smdp.onCall(() => ({ status: 503, isDone: false }));
  await provision(service);
  await until(
    async () => pauses,
    ({ length }) => length === 1,
  );
  const later = await Promise.all(Array.from({ length: 5 }, () => provision(service)));
  const before = setup.smdp.calls.length;
  const body = { product_id: 'prod_europe_5gb_30d' };
  const topUp = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body });
  expect(await finished(service, topUp)).toMatchObject({ status: 'succeeded' });
  const suspension = await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
  expect(await finished(service, suspension)).toMatchObject({ status: 'succeeded' });
  expect(setup.smdp.calls.length).toBe(before);
  for (const { json } of later) {
    const execution = (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
    expect(execution).toMatchObject({ status: 'queued', attempts: 0 });
  }
  const rows = await openOrders(service);
  expect(rows.map(({ fence }) => fence).sort()).toEqual([0, 0, 0, 0, 0, 2]);
  expect(pauses).toEqual([600_000]);
});

test('calls that were in progress when the pause began are not counted either', async () => {
  const { service, setup, pauses } = await start('ours', { pauseMs: 1_500, afterFailures: 1 });
  let arrived = 0;
  const { open, pass } = gate();
  setup.smdp.onCall(() => {
    arrived += 1;
    return pass({ status: 502, isDone: false });
  });
  const orders = await Promise.all(Array.from({ length: 6 }, () => provision(service)));
  await until(
    async () => arrived,
    (count) => count === 6,
  );
  open();
  await until(
    async () => pauses,
    ({ length }) => length > 0,
  );
  setup.smdp.onCall(() => undefined);
  for (const order of orders) {
    expect(await finished(service, order)).toMatchObject({ status: 'succeeded', attempts: 1 });
  }
});

test.each<[string, Mischief, ReadonlySet<number>, string]>([
  ['503 is retried', { status: 503, isDone: false }, new Set([503]), 'succeeded'],
  ['502 has an unknown outcome', { status: 502, isDone: true }, new Set([503]), 'outcome_unknown'],
  ['504 has an unknown outcome', { status: 504, isDone: true }, new Set([503]), 'outcome_unknown'],
  ['502 is retried if the operator says so', { status: 502, isDone: false }, new Set([502]), 'succeeded'],
  ['503 has an unknown outcome then', { status: 503, isDone: true }, new Set([502]), 'outcome_unknown'],
])('with the SM-DP+’s ICCIDs, %s, and nothing is ordered twice', async (_, mischief, undoneStatuses, end) => {
  const { service, setup } = await start('theirs', { afterFailures: 0 }, { undoneStatuses });
  setup.smdp.onCall(({ name }) =>
    name === 'downloadOrder' && setup.smdp.calls.length === 1 ? mischief : undefined,
  );
  const execution = await finished(service, await provision(service));
  expect(execution.error?.code ?? execution.status).toBe(end);
  expect([...setup.smdp.profiles.values()].map(({ reservations }) => reservations)).toEqual([1]);
});

test('an order with an unknown outcome counts as a sign that the network is down', async () => {
  const { service, setup, pauses } = await start('theirs', { pauseMs: 600_000, afterFailures: 2 });
  setup.smdp.onCall(() => ({ status: 502, isDone: false }));
  for (let i = 0; i < 2; i++) {
    expect(await finished(service, await provision(service))).toMatchObject({ status: 'failed' });
  }
  expect(pauses).toEqual([600_000]);
});

test('an order whose last attempt fails during the pause waits for it, so that no profile is left behind', async () => {
  const { service, setup, pauses } = await start('ours', { pauseMs: 1_500, afterFailures: 1 });
  let attempts = 0;
  const { open, reached, pass } = gate();
  setup.smdp.onCall(({ name }) => {
    if (name === 'downloadOrder') return attempts < 3 ? undefined : { status: 503, isDone: false };
    attempts += 1;
    const fault = { status: 500, isDone: false };
    return attempts === 3 ? pass(fault) : fault;
  });
  const order = await provision(service);
  await reached;
  const other = await provision(service);
  await until(
    async () => pauses,
    ({ length }) => length > 0,
  );
  setup.smdp.onCall(() => undefined);
  open();
  expect(await finished(service, order)).toMatchObject({ status: 'succeeded' });
  expect(await finished(service, other)).toMatchObject({ status: 'succeeded' });
});

test('an order that would fail just as the pause begins cancels its profile after the pause, then fails', async () => {
  const { service, setup, pauses } = await start('ours', {
    pauseMs: 1_500,
    afterFailures: 1,
    retryScheduleMs: [],
  });
  const [failing, down] = [gate(), gate()];
  setup.smdp.onCall(async ({ name }) => {
    if (name === 'confirmOrder') return failing.pass({ status: 500, isDone: false });
    return setup.smdp.profiles.size > 0 ? down.pass({ status: 503, isDone: false }) : undefined;
  });
  const order = await provision(service);
  await failing.reached;
  const other = await provision(service);
  await down.reached;
  await service.db.transaction(async (tx) => {
    const lock = { name: 'test_lock', text: 'select from execution_queue where id = $1 for update' };
    await tx.query(lock, [uuidOfId('exec', order.json.id)]);
    failing.open();
    // The order has decided to fail, and waits for the lock to store that.
    await untilLockIsAwaited(service);
    setup.smdp.onCall(() => undefined);
    down.open();
    await until(
      async () => pauses,
      ({ length }) => length === 1,
    );
  });
  const { iccid, ...execution } = await finished(service, order);
  expect(execution).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'network_unavailable' } });
  expect(setup.smdp.profiles.get(iccid)?.state).toBe('Unavailable');
  expect(await finished(service, other)).toMatchObject({ status: 'succeeded' });
});

test('a termination that needs no call does not end the pause', async () => {
  const { service, setup, pauses } = await start('ours', { afterFailures: 1 });
  const { iccid } = await finished(service, await provision(service));
  await service.db.query(
    {
      name: 'test_downloaded',
      text: `update esims set profile_state = 'downloaded' where iccid = $1`,
    },
    [iccid],
  );
  setup.smdp.onCall(() => ({ status: 503, isDone: false }));
  await provision(service);
  await until(
    async () => pauses,
    ({ length }) => length > 0,
  );
  const termination = await call(service, 'DELETE', `/v1/esims/${iccid}`);
  expect(await finished(service, termination)).toMatchObject({ status: 'succeeded' });
  expect(pauses).not.toContain(null);
});

test('the probe is an order that can be repeated, if there is one', async () => {
  const { service, setup, pauses } = await start('theirs', { pauseMs: 1_500, afterFailures: 1 });
  setup.smdp.onCall(({ name }) => (name === 'confirmOrder' ? { status: 502, isDone: false } : undefined));
  const begun = await provision(service);
  await until(
    async () => pauses,
    ({ length }) => length === 1,
  );
  setup.smdp.onCall(() => ({ status: 502, isDone: false }));
  const fresh = await provision(service);
  await until(
    async () => pauses,
    ({ length }) => length === 2,
  );
  setup.smdp.onCall(() => undefined);
  expect(await finished(service, begun)).toMatchObject({ status: 'succeeded' });
  expect(await finished(service, fresh)).toMatchObject({ status: 'succeeded' });
});
