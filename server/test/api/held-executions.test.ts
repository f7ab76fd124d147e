import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createRunners } from '../../src/background/execution-runners.ts';
import type { CoreMode } from '../../src/network/core-mode.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network } from '../../src/network/port.ts';
import { newEvent } from '../../src/notify/events/new-event.ts';
import { firstBundleFrom } from '../../src/orders/bundles/insert-from.ts';
import { adoptedProgress, requireLostIccid } from '../../src/orders/esims/adopt-profile.ts';
import { failAfterLastAttempt } from '../../src/orders/esims/roll-back-provision.ts';
import { settleProvisionedRows, storeOrdered, terminateQueued } from '../../src/orders/esims/sql/orders.ts';
import { hold } from '../../src/orders/executions/hold.ts';
import type { Deps } from '../../src/orders/executions/runner.ts';
import { type ClaimedExecution, claimExecutionRows } from '../../src/orders/executions/sql/queue.ts';
import { createKeyring } from '../../src/platform/secrets/keyring.ts';
import { orderMatchingIdPlace } from '../../src/platform/secrets/sealed-places.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(() => service.db.pool.query('delete from execution_queue'));

const mock = createMockNetwork({ delayMs: 0 });
const refused = { kind: 'refused', reason: { code: 'declined', message: 'Not this one.' } } as const;
const iccid = '8999901000000005555';

type Step = 'order' | 'confirm' | 'release' | 'cancel' | 'suspend' | 'topUp';

async function claim(iccids: string[] = []): Promise<ClaimedExecution> {
  const wanted = { count: 1, holder: randomUUID(), leaseMs: 60_000, since: null, iccids };
  const { executions } = await claimExecutionRows(service.db, wanted);
  return executions[0] as ClaimedExecution;
}

const takeOver = () => service.db.pool.query('update execution_queue set fence = fence + 1');

/** Runs an execution, which another worker takes over during the call of `lostIn`. Returns the calls and what was told. */
async function runAndLose(
  execution: ClaimedExecution,
  lostIn: Step | null,
  { core = 'mock', ...answers }: Partial<Network> & { core?: CoreMode } = {},
) {
  const seen: string[] = [];
  const network = { ...mock, ...answers } as unknown as Record<Step, (given: object) => Promise<unknown>>;
  const steps = ['order', 'confirm', 'release', 'cancel', 'suspend', 'topUp'] as const;
  const recorded = steps.map((step) => {
    const made = async (given: object) => {
      seen.push(step);
      if (step === lostIn) await takeOver();
      return network[step](given);
    };
    return [step, made];
  });
  const deps = {
    ...service.service,
    core,
    network: { ...network, ...Object.fromEntries(recorded) },
    // Shorter than a call may take, so each step that was reached is stored.
    leaseMs: 1,
    networkTimeoutMs: 60_000,
    onOutcome: (_: string, outcome: string) => void seen.push(outcome),
    onStranded: () => void seen.push('stranded'),
    handOver: { announce: () => void seen.push('handed over') },
  } as unknown as Deps;
  const held = hold(deps, null, execution, new AbortController().signal);
  expect(await createRunners()[execution.type].run(deps, held)).toEqual({ kind: 'done' });
  return seen;
}

const events = async () => (await call(service, 'GET', '/v1/events')).json.data;

test.each<[string, Step[], Partial<Network>]>([
  ['the order is refused', ['order'], { order: async () => refused }],
  ['the confirmation is refused', ['order', 'confirm'], { confirm: async () => refused }],
  ['the profile is confirmed', ['order', 'confirm'], {}],
  [
    'the profile is confirmed and not released',
    ['order', 'confirm'],
    {
      confirm: async ({ matchingId }) => {
        const ready = { smdpAddress: 'smdp.example', matchingId, confirmationCodeRequired: false };
        return { kind: 'done', result: { ...ready, isReleased: false } };
      },
    },
  ],
])(
  'a worker that loses an order while %s makes no more calls, and tells nobody',
  async (_, calls, answers) => {
    await provision(service);
    const order = await claim([iccid]);
    expect(await runAndLose(order, calls.at(-1) as Step, answers)).toEqual(calls);
    expect(await events()).toEqual([]);
    const { rows } = await service.db.pool.query('select iccid, fence from execution_queue');
    expect(rows).toEqual([{ iccid, fence: 2 }]);
  },
);

test('a worker that loses a suspension does not write it', async () => {
  const esim = await insertEsim(service);
  await call(service, 'POST', `/v1/esims/${esim}/suspend`);
  expect(await runAndLose(await claim(), 'suspend')).toEqual(['suspend']);
  expect((await call(service, 'GET', `/v1/esims/${esim}`)).json.status).toBe('provisioned');
  expect(await events()).toEqual([]);
});

test('a worker that loses a top-up adds no bundle', async () => {
  const esim = await insertEsim(service);
  await call(service, 'POST', `/v1/esims/${esim}/bundles`, { body: { product_id: 'prod_europe_5gb_30d' } });
  expect(await runAndLose(await claim(), 'topUp')).toEqual(['topUp']);
  expect((await call(service, 'GET', `/v1/esims/${esim}/bundles`)).json.data).toEqual([]);
  expect(await events()).toEqual([]);
});

test('a worker that has lost an order stores no ICCID of the network', async () => {
  await provision(service);
  const order = await claim();
  await takeOver();
  expect(await storeOrdered(service.db, { ...order, iccid, progress: { is_ordered: true } })).toBe('lost');
  const { rows } = await service.db.pool.query('select iccid, progress from execution_queue');
  expect(rows).toEqual([{ iccid: null, progress: {} }]);
});

test('a worker that has lost an order does not return its number, which the next worker uses', async () => {
  await provision(service);
  const order = await claim([iccid]);
  await takeOver();
  const seen: string[] = [];
  const deps = {
    ...service.service,
    network: { ...mock, forgetsCalls: true },
    onOutcome: (_: string, outcome: string) => void seen.push(outcome),
  } as unknown as Deps;
  const held = hold(deps, null, order, new AbortController().signal);
  const error = { code: 'internal', message: 'It failed too often.', retryable: true } as const;
  await failAfterLastAttempt(deps, held, error, async (_, given) => void seen.push(given));
  expect(seen).toEqual([]);
  expect(await events()).toEqual([]);
});

test('an order that a network refuses which remembers its calls reserved nothing, so nothing is canceled', async () => {
  await provision(service);
  const seen = await runAndLose(await claim([iccid]), null, { order: async () => refused });
  expect(seen).toEqual(['order', 'failed']);
});

test('a profile that cannot be used is not canceled if another eSIM has its ICCID, and is for the operator to look up', async () => {
  const taken = await insertEsim(service);
  const { id } = (await provision(service)).json;
  const order = async () => ({ ...refused, reservedIccid: taken });
  const claimed = { ...(await claim()), progress: { matching_id: 'sealed' } };
  expect(await runAndLose(claimed, null, { iccids: 'theirs', order })).not.toContain('cancel');
  expect((await call(service, 'GET', `/v1/executions/${id}`)).json.error.code).toBe('outcome_unknown');
});

test('an order whose matching id cannot be read fails all the same, and its profile is reported', async () => {
  await provision(service);
  const order = await claim(['8999901000000006662']);
  const elsewhere = createKeyring([randomBytes(32)]);
  const matching_id = elsewhere.seal('AB-12', orderMatchingIdPlace(order.account_id, order.id));
  const seen: string[] = [];
  const deps = {
    ...service.service,
    network: { ...mock, forgetsCalls: true },
    onOutcome: (_: string, outcome: string) => void seen.push(outcome),
    onStranded: () => void seen.push('stranded'),
  } as unknown as Deps;
  const claimed = { ...order, progress: { is_ordered: true, matching_id } };
  const held = hold(deps, null, claimed, new AbortController().signal);
  const error = { code: 'internal', message: 'It failed too often.', retryable: true } as const;
  await failAfterLastAttempt(deps, held, error, null);
  expect(seen).toEqual(['failed', 'stranded']);
});

test('an eSIM whose order is open is terminated once', async () => {
  await provision(service);
  const order = await claim(['8999901000000006661']);
  const at = new Date();
  expect(await terminateQueued(service.db, order, at)).toMatchObject({ status: 'terminated' });
  expect(await terminateQueued(service.db, order, at)).toBeNull();
});

test('a profile that was canceled is not reported to the operator', async () => {
  await provision(service);
  const seen = await runAndLose(await claim([iccid]), null, { confirm: async () => refused });
  expect(seen).toEqual(['order', 'confirm', 'cancel', 'failed']);
});

/** An order that a worker has claimed and can settle. */
async function settling(number: string) {
  await provision(service);
  const order = await claim([number]);
  const event = newEvent(service.service, {
    accountUuid: order.account_id,
    type: 'esim.provisioned',
    data: { iccid: number },
  });
  return {
    ...order,
    iccid: number,
    smdpAddress: 'smdp.example.com',
    sealedMatchingId: 'sealed',
    confirmationCodeRequired: false,
    bundleUuid: randomUUID(),
    at: new Date(),
    event,
  };
}

const settle = async (rows: Awaited<ReturnType<typeof settling>>[]) => {
  const how = { firstBundle: firstBundleFrom, core: 'none' } as const;
  return (await settleProvisionedRows(service.db, rows, how)).map(({ outcome }) => outcome);
};

test('of orders that are settled together, each gets its own outcome', async () => {
  const lost = await settling('8999901000000002222');
  await takeOver();
  const held = await settling('8999901000000001111');
  expect(await settle([lost, held])).toEqual(['lost', 'settled']);
});

test('an eSIM keeps the EID that the network reported while it was ordered for another one', async () => {
  const order = await settling('8999901000000009111');
  const [ordered, reported] = ['89882119900000000000000000001654', '89049032004008882600009231000001'];
  await service.db.pool.query('update execution_queue set input = input || $1, observed = $2', [
    { eid: ordered },
    { eid: reported },
  ]);
  expect(await settle([order])).toEqual(['settled']);
  expect((await call(service, 'GET', `/v1/esims/${order.iccid}`)).json.eid).toBe(reported);
});

const noAnswer = { kind: 'failed', reason: { code: 'network_unavailable', message: 'No answer.' } } as const;

/** Lets an order fail on a network on which each step goes wrong this often. Returns what the network was asked. */
async function orderFrom(refusal: 'at once' | 'after a lost answer') {
  const types: (string | null)[] = [];
  const matchingIds: (string | null)[] = [];
  const times = { order: 0, confirm: 0, cancel: 0 };
  const worker = service.startWorker({
    ...mock,
    async order(given) {
      types.push(given.profileType);
      await service.db.pool.query('update products set profile_type = $1', [`TYPE-${types.length}`]);
      return ++times.order === 1 ? noAnswer : mock.order(given);
    },
    async confirm({ profileType, matchingId }) {
      types.push(profileType);
      matchingIds.push(matchingId);
      await service.db.pool.query('update products set profile_type = $1', [`TYPE-${types.length}`]);
      return ++times.confirm === 1 && refusal !== 'at once' ? noAnswer : refused;
    },
    async cancel(given) {
      matchingIds.push(given.matchingId);
      return ++times.cancel === 1 ? noAnswer : mock.cancel(given);
    },
  });
  await service.db.pool.query(`update products set profile_type = 'TYPE-0'`);
  const { id } = (await provision(service)).json;
  await until(
    async () => (await call(service, 'GET', `/v1/executions/${id}`)).json,
    ({ status }) => status === 'failed',
  );
  await worker.stop(0);
  return { types, matchingIds, times };
}

test.each([
  ['at once', { order: 2, confirm: 1, cancel: 2 }],
  ['after a lost answer', { order: 2, confirm: 2, cancel: 2 }],
] as const)(
  'every attempt of an order that is refused %s asks for the same profile type and the same matching id',
  async (refusal, times) => {
    const asked = await orderFrom(refusal);
    expect(asked.times).toEqual(times);
    expect(new Set(asked.types)).toEqual(new Set(['TYPE-0']));
    expect(new Set(asked.matchingIds).size).toBe(1);
  },
);

test('the matching id that the network chose is stored before the release, and used from then on', async () => {
  const asked: string[] = [];
  let releases = 0;
  const worker = service.startWorker({
    ...mock,
    forgetsCalls: true,
    async confirm({ matchingId }) {
      asked.push(matchingId);
      const chosen = { smdpAddress: 'smdp.example', matchingId: 'OF-THE-NETWORK', isReleased: false };
      return { kind: 'done', result: { ...chosen, confirmationCodeRequired: false } };
    },
    release: async (given) => (++releases === 1 ? noAnswer : mock.release(given)),
  });
  const { id } = (await provision(service)).json;
  await until(
    async () => (await call(service, 'GET', `/v1/executions/${id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  await worker.stop(0);
  expect(asked).toEqual([expect.not.stringContaining('NETWORK'), 'OF-THE-NETWORK']);
});

test('a profile with the ICCID of another eSIM is not canceled', async () => {
  const taken = await insertEsim(service);
  const { id } = (await provision(service)).json;
  expect(await runAndLose(await claim([taken]), null)).not.toContain('cancel');
  const { error } = (await call(service, 'GET', `/v1/executions/${id}`)).json;
  expect(error.code).toBe('outcome_unknown');
});

test('an order that goes on with a reserved profile asks for the type that was reserved', () => {
  const order = { accountUuid: service.accountUuid, executionUuid: randomUUID() };
  const earlier = { profile_type: 'EARLIER' };
  expect(adoptedProgress(service.service.keyring, { ...order, earlier })).toMatchObject(earlier);
});

test('the ICCID of the network’s answer may lack a check digit, and another one may not', async () => {
  const lost = (answered: string | undefined) =>
    requireLostIccid(service.db, '8999909000000009007', { answered, requiresCheckDigit: true });
  await lost('8999909000000009007');
  await expect(lost(undefined)).rejects.toMatchObject({ code: 'parameter_invalid' });
});

test('an order whose eSIM cannot be stored for another reason than its ICCID is not given up at once', async () => {
  await service.db.pool.query(`
create function refuse_esim() returns trigger language plpgsql as $$
begin
  raise exception 'refused on purpose' using errcode = '23505', constraint = 'another_key';
end $$;
create trigger refuse_esim
before insert on esims
for each row
when (new.status = 'provisioned')
execute function refuse_esim()`);
  await provision(service);
  const order = await claim([iccid]);
  await expect(runAndLose(order, null)).rejects.toThrow('refused on purpose');
  await service.db.pool.query('drop trigger refuse_esim on esims');
  const { rows } = await service.db.pool.query('select id from execution_queue');
  expect(rows).toEqual([{ id: order.id }]);
});

test('a suspension that is no longer possible when its turn comes is not proposed to the core', async () => {
  const esim = await insertEsim(service);
  const { json } = await call(service, 'POST', `/v1/esims/${esim}/suspend`);
  await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [esim]);
  expect(await runAndLose(await claim(), null, { core: 'state' })).toEqual(['failed']);
  const { status, error } = (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  expect([status, error.code]).toEqual(['failed', 'state_conflict']);
});

test('a suspension that is no longer possible when the network has answered fails, and is not told as made', async () => {
  const esim = await insertEsim(service);
  const { json } = await call(service, 'POST', `/v1/esims/${esim}/suspend`);
  const suspend: Network['suspend'] = async (given) => {
    await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [esim]);
    return mock.suspend(given);
  };
  expect(await runAndLose(await claim(), null, { suspend })).toEqual(['suspend', 'failed']);
  const { status, error } = (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  expect([status, error.code]).toEqual(['failed', 'state_conflict']);
  const { data } = (await call(service, 'GET', `/v1/events?iccid=${esim}`)).json;
  expect(data.map(({ type }: { type: string }) => type)).toEqual(['execution.failed']);
});
