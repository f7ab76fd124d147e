import { afterAll, describe, expect, test } from 'vitest';
import { createRunners } from '../../src/background/execution-runners.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision, type Reply } from '../support/client.ts';
import type { Mischief, SmdpCall } from '../support/fake-smdp.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});
const started = new Map<string, Setup>();

type Setup = SmdpSetup & { service: TestService };

/** A live deployment with an empty SM-DP+. With `withoutWorker` the test starts the worker itself. */
async function start(
  iccids: 'ours' | 'theirs',
  { withoutWorker = false, ...fake }: Parameters<typeof startSmdpSetup>[0] & { withoutWorker?: boolean } = {},
): Promise<Setup> {
  const name = JSON.stringify({ iccids, withoutWorker, fake });
  const known = started.get(name);
  if (known) {
    known.smdp.calls.length = 0;
    known.smdp.profiles.clear();
    known.smdp.onCall(() => undefined);
    return known;
  }
  const setup = await startSmdpSetup(fake, { iccids });
  const service = await startService({ mode: 'live' });
  stops.push(service.stop, setup.stop);
  if (!withoutWorker) service.startWorker(setup.network, { retryScheduleMs: [5, 5, 5] });
  started.set(name, { ...setup, service });
  return { ...setup, service };
}

async function finished(service: TestService, { json }: Reply) {
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

const order = async ({ service }: Setup) => finished(service, await provision(service));
const terminate = async ({ service }: Setup, iccid: string) =>
  finished(service, await call(service, 'DELETE', `/v1/esims/${iccid}`));

const calls = ({ smdp }: Setup, wanted: SmdpCall['name']) => smdp.calls.filter(({ name }) => name === wanted);

/** Injects mischief into the first `times` calls of each function. */
function meet(
  { smdp }: Setup,
  what: Partial<Record<SmdpCall['name'], Mischief>>,
  times = Number.POSITIVE_INFINITY,
) {
  const seen = new Map<string, number>();
  smdp.onCall(({ name }) => {
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return (seen.get(name) as number) <= times ? what[name] : undefined;
  });
}

/** Reserves the profile of our first order's ICCID for someone else, just before that order arrives. */
function reserveForOther({ smdp }: Setup, mischief?: Mischief) {
  let isFirst = true;
  smdp.onCall(({ name, body }) => {
    if (name !== 'downloadOrder' || !isFirst) return undefined;
    isFirst = false;
    const iccid = body['iccid'] as string;
    const theirs = { profileType: 'x', reservations: 1, matchingId: 'SOMEBODY-ELSE', eid: null } as const;
    smdp.profiles.set(iccid, { ...theirs, iccid, state: 'Released' });
    return mischief;
  });
}

describe('someone else’s profile', () => {
  test.each<[string, Mischief | undefined]>([
    ['at once', undefined],
    ['after a lost answer', 'reset'],
  ])('is never canceled when its ICCID is refused %s, not even by DELETE', async (_, mischief) => {
    const setup = await start('ours');
    reserveForOther(setup, mischief);
    const failed = await order(setup);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'state_conflict' } });
    expect(await terminate(setup, failed.iccid)).toMatchObject({ status: 'succeeded' });
    expect(calls(setup, 'cancelOrder')).toEqual([]);
    expect(setup.smdp.profiles.get(failed.iccid)).toMatchObject({ state: 'Released' });
  });

  test('is never canceled when only a lost answer suggests that it is ours', async () => {
    const setup = await start('ours', { refusesRepeatedConfirm: '8.2.1/3.3' });
    reserveForOther(setup, 'reset');
    const failed = await order(setup);
    expect(failed).toMatchObject({ status: 'failed' });
    await terminate(setup, failed.iccid);
    expect(setup.smdp.profiles.get(failed.iccid)).toMatchObject({ state: 'Released' });
    for (const { body } of calls(setup, 'cancelOrder')) expect(body).toHaveProperty('matchingId');
  });

  test('is not canceled by a second cancelOrder for an ICCID that was canceled before', async () => {
    const setup = await start('ours');
    meet(setup, { confirmOrder: { code: '8.1.1/2.2' } });
    const failed = await order(setup);
    const profile = setup.smdp.profiles.get(failed.iccid);
    expect(profile?.state).toBe('Unavailable');
    Object.assign(profile as object, { state: 'Released', matchingId: 'SOMEBODY-ELSE' });
    expect(await terminate(setup, failed.iccid)).toMatchObject({ status: 'succeeded' });
    expect(profile?.state).toBe('Released');
  });
});

describe('an order that fails', () => {
  test('is canceled by DELETE if the rollback failed, and keeps its own cause', async () => {
    const setup = await start('ours');
    meet(setup, { confirmOrder: { code: '8.1.1/2.2' }, cancelOrder: { status: 500, isDone: false } });
    const failed = await order(setup);
    expect(failed).toMatchObject({ status: 'failed', error: { upstream: { reason_code: '2.2' } } });
    expect(calls(setup, 'confirmOrder')).toHaveLength(1);
    expect(setup.smdp.profiles.get(failed.iccid)?.state).toBe('Allocated');
    setup.smdp.onCall(() => undefined);
    expect(await terminate(setup, failed.iccid)).toMatchObject({ status: 'succeeded' });
    expect(setup.smdp.profiles.get(failed.iccid)?.state).toBe('Unavailable');
  });

  test.each(['ours', 'theirs'] as const)(
    'is not confirmed when the answer to its cancelOrder is lost (ICCIDs: %s)',
    async (iccids) => {
      const setup = await start(iccids);
      meet(setup, { confirmOrder: { code: '8.1.1/2.2' }, cancelOrder: 'lose' }, 1);
      expect(await order(setup)).toMatchObject({
        status: 'failed',
        error: { code: 'declined', upstream: { function: 'confirmOrder', reason_code: '2.2' } },
      });
      expect(calls(setup, 'confirmOrder')).toHaveLength(1);
      expect([...setup.smdp.profiles.values()]).toMatchObject([{ state: 'Unavailable', reservations: 1 }]);
    },
  );

  test('does not pass its profile on to the next order', async () => {
    const setup = await start('theirs');
    meet(setup, { confirmOrder: { code: '8.1.1/2.2' } }, 1);
    const failed = await order(setup);
    const next = await order(setup);
    expect([failed.status, next.status]).toEqual(['failed', 'succeeded']);
    expect(next.iccid).not.toBe(failed.iccid);
  });

  test('is canceled with the matching id that the SM-DP+ chose', async () => {
    const setup = await startSmdpSetup({}, { releasesOnConfirm: false });
    const service = await startService({ mode: 'live' });
    stops.push(service.stop, setup.stop);
    service.startWorker(setup.network);
    setup.smdp.onCall(({ name, body }) => {
      const profile = setup.smdp.profiles.get(body['iccid'] as string);
      if (name === 'confirmOrder') return { answer: { matchingId: 'OF-THE-SERVER' } };
      if (profile && name === 'releaseProfile') profile.matchingId = 'OF-THE-SERVER';
      return name === 'releaseProfile' ? { code: '8.2.1/1.2' } : undefined;
    });
    const failed = await order({ ...setup, service });
    expect(failed).toMatchObject({ status: 'failed', error: { upstream: { reason_code: '1.2' } } });
    expect(setup.smdp.profiles.get(failed.iccid)?.state).toBe('Unavailable');
  });
});

describe('orders in progress while the ICCID source changes', () => {
  const other = { ours: 'theirs', theirs: 'ours' } as const;

  /** One order whose first attempt meets the mischief under one setting, and which continues under the other. */
  async function change(before: 'ours' | 'theirs', mischief: Mischief, progress: object = {}) {
    const setup = await start(before, { withoutWorker: true });
    const { service, smdp } = setup;
    const first = service.startWorker(setup.network, { retryScheduleMs: [3_600_000] });
    meet(setup, { downloadOrder: mischief });
    const accepted = await provision(service);
    const id = uuidOfId('exec', accepted.json.id);
    const text = `select progress ->> 'failures' as failures from execution_queue where id = $1`;
    const look = () => service.db.query<{ failures: string | null }>({ name: 'failures_of', text }, [id]);
    await until(look, ([row]) => row?.failures === '1');
    await first.stop(0);
    smdp.onCall(() => undefined);
    await service.db.query(
      {
        name: 'due_with',
        text: 'update execution_queue set due_at = now(), progress = progress || $2 where id = $1',
      },
      [id, JSON.stringify(progress)],
    );
    const second = service.startWorker(setup.networkWith({ iccids: other[before] }));
    const execution = await finished(service, accepted);
    await second.stop(0);
    return { setup, execution };
  }

  test.each(['ours', 'theirs'] as const)('succeed if never executed (before: %s)', async (before) => {
    const { setup, execution } = await change(before, { status: 403, isDone: false });
    expect(execution).toMatchObject({ status: 'succeeded' });
    expect([...setup.smdp.profiles.values()]).toMatchObject([{ iccid: execution.iccid, reservations: 1 }]);
  });

  test('for an ICCID of the SM-DP+ are not repeated when their worker died during the call', async () => {
    const { setup, execution } = await change(
      'theirs',
      { status: 403, isDone: false },
      { sent_order: true }, // as left by a worker that was killed while it waited for the answer
    );
    expect(execution).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown' } });
    expect(calls(setup, 'downloadOrder')).toHaveLength(1);
  });

  test('for our own ICCID recognize it when their answer was lost', async () => {
    const { setup, execution } = await change('ours', 'lose');
    expect(execution).toMatchObject({ status: 'succeeded' });
    expect([...setup.smdp.profiles.values()]).toMatchObject([{ iccid: execution.iccid, reservations: 1 }]);
  });
});

test('a worker that lost its claim makes no more network calls', async () => {
  const setup = await start('ours', { withoutWorker: true });
  const { service } = setup;
  meet(setup, { downloadOrder: 'reset' });
  const runners = createRunners();
  const provisioner = runners['esim.provision'];
  let end: Promise<unknown> | undefined;
  const run: typeof provisioner.run = async (deps, execution) => {
    if (execution.attempts === 2) {
      const text = 'update execution_queue set fence = fence + 1 where id = $1';
      await service.db.query({ name: 'take_over', text }, [execution.id]);
    }
    const outcome = provisioner.run(deps, execution);
    if (execution.attempts === 2) end = outcome.catch((error: Error) => error.name);
    return outcome;
  };
  service.startWorker(setup.network, {
    retryScheduleMs: [5],
    runners: { ...runners, 'esim.provision': { ...provisioner, run } },
  });
  await provision(service);
  await until(async () => end, Boolean);
  expect(await end).toBe('ClaimLost');
  expect(calls(setup, 'downloadOrder')).toHaveLength(1);
});
