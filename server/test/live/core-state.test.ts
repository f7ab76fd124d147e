import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCoreCommands } from '../../src/network/core/core-commands.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { unixSeconds } from '../../src/platform/clock.ts';
import { call, provision } from '../support/client.ts';
import { type FakeCore, startFakeCore } from '../support/fake-core.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const secret = 'a-secret-of-the-tests-and-nobody-else';
let service: TestService;
let core: FakeCore;
let driver: ReturnType<typeof createCoreCommands>;
let network: string;
beforeAll(async () => {
  service = await startService({ mode: 'live', core: 'state' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  network = await service.createKey({ scopes: ['network'] });
});
afterAll(() => service.stop());

const pause = { afterFailures: 3, pauseMs: 30 };
let sender: ReturnType<TestService['startCore']> | null = null;
function startSender(overrides: Parameters<TestService['startCore']>[1] = {}) {
  sender = service.startCore(driver, { pause, retryScheduleMs: [10], ...overrides });
  return sender;
}
async function startCore() {
  core = await startFakeCore();
  driver = createCoreCommands({
    ...{ url: core.url, secret, userAgent: 'Simplane/test' },
    nowSeconds: () => unixSeconds(Date.now()),
  });
}
beforeEach(startCore);
afterEach(async () => {
  await sender?.stop(10_000);
  sender = null;
  await core.stop();
});

const esimOf = async (iccid: string, key = service.key) =>
  (await call(service, 'GET', `/v1/esims/${iccid}`, { key })).json;
const executionOf = async (id: string) => (await call(service, 'GET', `/v1/executions/${id}`)).json;
const change = async (iccid: string, name: 'suspend' | 'resume' | 'terminate', target = service) => {
  const [method, path] = name === 'terminate' ? ['DELETE', ''] : ['POST', `/${name}`];
  return call(target, method, `/v1/esims/${iccid}${path}`);
};

function ended(id: string) {
  return until(
    () => executionOf(id),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

function waiting(id: string) {
  return until(
    () => executionOf(id),
    ({ waiting_for }) => waiting_for?.includes('core'),
  );
}

async function order(target: { url: string; key: string } = service): Promise<string> {
  const { json } = await provision(target);
  const { iccid } = await until(
    async () => (await call(target, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  return iccid;
}

const applied = (iccid: string) =>
  until(
    async () => (await esimOf(iccid)).service,
    ({ version, applied_version }) => version === applied_version,
  );

/** Later than the one before: a country is followed only to a newer report. */
async function report(iccid: string, usage: { bytes: number; country: string }) {
  service.clock.advance(2_000);
  const record = { record_id: crypto.randomUUID(), iccid, at: unixSeconds(service.clock.nowMs()), ...usage };
  const reply = await call(service, 'POST', '/v1/usage_records', {
    key: network,
    body: { records: [record] },
  });
  expect(reply.json).toMatchObject({ accepted: 1 });
}

describe('the operator’s core', () => {
  test('hears of provisioning, first use, depletion, top-up, another country, suspension and termination', async () => {
    startSender();
    const iccid = await order();
    await applied(iccid);
    await report(iccid, { bytes: 1, country: 'DE' });
    await applied(iccid);
    await report(iccid, { bytes: 5_000_000_000, country: 'DE' });
    await applied(iccid);
    const body = { product_id: 'prod_europe_1gb_7d' };
    await ended((await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body })).json.id);
    await applied(iccid);
    await report(iccid, { bytes: 1, country: 'JP' });
    await applied(iccid);
    for (const name of ['suspend', 'resume', 'terminate'] as const) {
      const { status } = await ended((await change(iccid, name)).json.id);
      expect([name, status]).toEqual([name, 'succeeded']);
      await applied(iccid);
    }
    const heard = core.commands().map(({ state, reason }) => [state, reason].join(' '));
    expect(heard.filter((one, index) => one !== heard[index - 1])).toEqual([
      'full ',
      'barred depleted',
      'full ',
      'barred not_covered',
      'barred suspended',
      'barred not_covered',
      'barred terminated',
    ]);
    const versions = core.commands().map(({ version }) => version);
    expect(versions).toEqual(versions.map((_, index) => index + 1));
    const { service: shown, status } = await esimOf(iccid);
    expect(status).toBe('terminated');
    expect(core.lines.get(iccid)).toMatchObject({ state: shown.state, version: shown.version });
  });

  test('gets one signed body per version, whatever it answers and however often it is sent', async () => {
    startSender();
    let answers = 0;
    core.behave(
      () =>
        (++answers < 4 ? (['unavailable', 'lie', 'unavailable'] as const)[answers - 1] : 'apply') ?? 'apply',
    );
    const iccid = await order();
    await applied(iccid);
    expect(core.bodies().length).toBeGreaterThanOrEqual(4);
    expect(new Set(core.bodies()).size).toBe(1);
    expect(core.commands()[0]).toEqual({
      ...{ id: `${iccid}.1`, command: 'set_service', iccid, version: 1 },
      ...{ state: 'full', reason: null, kbps: null, until: null },
      bundle_id: expect.stringMatching(/^bdl_/),
    });
    expect(core.received[0]?.headers['idempotency-key']).toBe(`${iccid}.1`);
    expect(core.received[0]?.headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  test('that was down gets one command per eSIM afterwards', async () => {
    const iccids = [await order(), await order()];
    for (const iccid of iccids) {
      await report(iccid, { bytes: 1, country: 'DE' });
      await report(iccid, { bytes: 1, country: 'JP' });
      await report(iccid, { bytes: 1, country: 'FR' });
    }
    startSender();
    for (const iccid of iccids) expect((await applied(iccid)).version).toBeGreaterThan(3);
    const sent = core.commands().map(({ iccid }) => iccid);
    for (const iccid of iccids) expect(sent.filter((one) => one === iccid)).toHaveLength(1);
  });

  test('that is unreachable is asked with one command at a time, and has everything once it is back', async () => {
    const pauses: (number | null)[] = [];
    core.behave(() => 'unavailable');
    const iccids = await Promise.all(Array.from({ length: 12 }, () => order()));
    startSender({ onPause: (ms) => void pauses.push(ms), concurrency: 4 });
    await until(
      async () => pauses.length,
      (count) => count >= 3,
    );
    expect(core.received.length).toBeLessThan(12);
    core.behave(() => 'apply');
    for (const iccid of iccids) await applied(iccid);
    expect(pauses.at(-1)).toBeNull();
  });

  test('that answers late does not confirm a version that was written meanwhile', async () => {
    const iccid = await order();
    let answerFirst = () => {};
    core.answer((response, { body }) => {
      if (JSON.parse(body).version === 1) answerFirst = () => response.end('{}');
      // The second version is not answered at all.
    });
    startSender({ timeoutMs: 60_000, leaseMs: 3_600_000 });
    await until(
      async () => core.received.length,
      (count) => count === 1,
    );
    await report(iccid, { bytes: 1, country: 'JP' });
    await until(
      async () => core.received.length,
      (count) => count === 2,
    );
    answerFirst();
    const { service: shown } = await until(
      () => esimOf(iccid),
      ({ service: { applied_version } }) => applied_version !== null,
    );
    expect(shown).toMatchObject({ version: 2, applied_version: 1 });
    const [row] = await service.db.query<{ version: number }>(
      { name: 'test_core_queue', text: 'select version from core_queue where iccid = $1' },
      [iccid],
    );
    expect(row?.version).toBe(2);
    await sender?.stop(0);
    await core.stop();
    await startCore();
    startSender();
    expect(await applied(iccid)).toMatchObject({ version: 2 });
  });

  test('that confirms an old version after a newer one does not take it back', async () => {
    const iccid = await order();
    const held: (() => void)[] = [];
    core.answer((response, { body }) => {
      if (JSON.parse(body).version === 1) held.push(() => response.end('{}'));
      else response.end('{}');
    });
    startSender({ timeoutMs: 60_000, leaseMs: 3_600_000 });
    await until(
      async () => held.length,
      (count) => count === 1,
    );
    await report(iccid, { bytes: 1, country: 'JP' });
    expect(await applied(iccid)).toMatchObject({ version: 2 });
    held[0]?.();
    await sender?.stop(60_000);
    expect((await esimOf(iccid)).service).toMatchObject({ version: 2, applied_version: 2 });
  });
});

describe('a suspension', () => {
  test('takes effect when the core has it, and a termination does not wait behind it', async () => {
    const iccid = await order();
    const { id: suspension } = (await change(iccid, 'suspend')).json;
    expect(await waiting(suspension)).toMatchObject({ status: 'running', attempts: 1 });
    expect(await esimOf(iccid)).toMatchObject({
      status: 'provisioned',
      service: { state: 'barred', reason: 'suspended', version: 2, applied_version: null },
    });
    const again = await change(iccid, 'suspend');
    expect([again.status, again.json.error.message]).toEqual([409, expect.stringContaining(suspension)]);

    const { id: termination } = (await change(iccid, 'terminate')).json;
    await waiting(termination);
    expect(await executionOf(suspension)).toMatchObject({
      status: 'failed',
      error: { code: 'superseded', message: expect.stringContaining(termination), retryable: false },
    });
    expect(await esimOf(iccid)).toMatchObject({ status: 'terminated', service: { reason: 'terminated' } });
    const late = await call(service, 'POST', `/v1/executions/${termination}/cancel`);
    expect([late.status, late.json.error.code]).toEqual([409, 'state_conflict']);
    startSender();
    expect(await ended(termination)).toMatchObject({ status: 'succeeded' });
    expect(core.commands().filter((one) => one.iccid === iccid)).toMatchObject([{ reason: 'terminated' }]);
    const told = await call(service, 'GET', `/v1/events?iccid=${iccid}&type=esim.terminated`);
    expect(told.json.data).toHaveLength(1);
  });

  test('that waits can be canceled, and the core is told so if it has it', async () => {
    const iccid = await order();
    const { id } = (await change(iccid, 'suspend')).json;
    await waiting(id);
    const canceled = await call(service, 'POST', `/v1/executions/${id}/cancel`);
    expect(canceled.json).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
    expect(await esimOf(iccid)).toMatchObject({
      status: 'provisioned',
      service: { state: 'full', version: 3 },
    });
    expect((await call(service, 'POST', `/v1/executions/${id}/cancel`)).status).toBe(200);
    startSender();
    await applied(iccid);
    expect(core.commands().filter((one) => one.iccid === iccid)).toMatchObject([
      { state: 'full', version: 3 },
    ]);
    const next = (await change(iccid, 'suspend')).json;
    expect(await ended(next.id)).toMatchObject({ status: 'succeeded' });
    expect((await esimOf(iccid)).status).toBe('suspended');
  });

  test('is replaced by a resumption, which then only tells that it has ended', async () => {
    const iccid = await order();
    const suspension = (await change(iccid, 'suspend')).json;
    await waiting(suspension.id);
    const resumption = (await change(iccid, 'resume')).json;
    await waiting(resumption.id);
    expect((await executionOf(suspension.id)).error.code).toBe('superseded');
    const groups = `select failure_group from executions where iccid = $1 and status = 'failed'`;
    expect((await service.db.pool.query(groups, [iccid])).rows).toEqual([{ failure_group: null }]);
    startSender();
    expect(await ended(resumption.id)).toMatchObject({ status: 'succeeded' });
    expect(await esimOf(iccid)).toMatchObject({ status: 'provisioned', service: { state: 'full' } });
    const { data } = (
      await call(service, 'GET', `/v1/events?iccid=${iccid}&type=esim.suspended,esim.resumed`)
    ).json;
    expect(data.map(({ type }: { type: string }) => type)).toEqual(['esim.resumed']);
  });

  test('succeeds with a newer version that includes it', async () => {
    const iccid = await order();
    await report(iccid, { bytes: 1, country: 'DE' });
    const { id } = (await change(iccid, 'suspend')).json;
    await waiting(id);
    const before = (await esimOf(iccid)).service.version;
    await service.db.query(
      { name: 'test_raise', text: 'update esims set service_version = service_version + 1 where iccid = $1' },
      [iccid],
    );
    await service.db.query(
      { name: 'test_raise_queue', text: 'update core_queue set version = version + 1 where iccid = $1' },
      [iccid],
    );
    startSender();
    expect(await ended(id)).toMatchObject({ status: 'succeeded' });
    expect((await esimOf(iccid)).service.applied_version).toBe(before + 1);
  });

  test('that the core refuses fails with its words, and the eSIM keeps its status and service', async () => {
    startSender();
    const iccid = await order();
    await applied(iccid);
    core.behave(({ reason }) =>
      reason === 'suspended' ? { refuse: 'the line is under a court order' } : 'apply',
    );
    const { id } = (await change(iccid, 'suspend')).json;
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'declined', upstream: { status: '422', message: 'the line is under a court order' } },
    });
    expect((await applied(iccid)).version).toBe(3);
    expect(await esimOf(iccid)).toMatchObject({ status: 'provisioned', service: { state: 'full' } });
    expect(core.commands().filter((one) => one.iccid === iccid && one.version === 2)).toHaveLength(1);
  });
});

describe('a termination that waits', () => {
  let worker: ReturnType<TestService['startWorker']>;
  let other: TestService;
  beforeEach(async () => {
    other = await startService({ mode: 'live', core: 'state' });
    worker = other.startWorker(createMockNetwork({ delayMs: 0 }));
  });
  afterEach(() => other.stop());
  const find = async (id: string) => (await call(other, 'GET', `/v1/executions/${id}`)).json;
  const serviceOf = async (iccid: string) => (await call(other, 'GET', `/v1/esims/${iccid}`)).json.service;

  /** Then no worker runs, such as one of a release that knows no states and would repeat the change. */
  async function terminate() {
    const iccid = await order(other);
    const { id } = (await change(iccid, 'terminate', other)).json;
    await until(
      () => find(id),
      ({ waiting_for }) => waiting_for?.includes('core'),
    );
    await worker.stop(10_000);
    return { iccid, id };
  }

  test('is ended by the core’s answer alone, and counted', async () => {
    const { iccid, id } = await terminate();
    const outcomes: string[] = [];
    const sender = other.startCore(driver, { onOutcome: (...one) => outcomes.push(one.join(' ')) });
    await until(
      () => find(id),
      ({ status }) => status === 'succeeded',
    );
    await sender.stop(10_000);
    expect(outcomes).toEqual(['esim.terminate succeeded']);
    expect(await serviceOf(iccid)).toMatchObject({ reason: 'terminated', version: 2, applied_version: 2 });
    expect(await rowsOf(iccid)).toEqual([{ pending_change: null, executions: 0 }]);
  });

  test('fails with the core’s words if it refuses, without a worker, and is told and counted', async () => {
    core.behave(() => ({ refuse: 'the line is under a court order' }));
    const { iccid, id } = await terminate();
    const sender = other.startCore(driver);
    const { error } = await until(
      () => find(id),
      ({ status }) => status === 'failed',
    );
    await sender.stop(10_000);
    expect(error).toMatchObject({ code: 'declined', retryable: false, upstream: { status: '422' } });
    expect(await rowsOf(iccid)).toEqual([{ pending_change: null, executions: 0 }]);
    const { data } = (await call(other, 'GET', `/v1/events?iccid=${iccid}&type=execution.failed`)).json;
    expect(data).toMatchObject([{ data: { execution_id: id, error: { code: 'declined' } } }]);
    expect(await other.service.metrics.registry.metrics()).toContain(
      'simplane_executions_total{execution_type="esim.terminate",outcome="failed"} 1\n',
    );
  });

  test('is ended by a worker, and not told again, if the core’s answer was stored without ending it', async () => {
    const { iccid, id } = await terminate();
    // As a process of the release before does, during an upgrade.
    await other.db.query(
      { name: 'test_answered', text: 'update esims set applied_version = service_version where iccid = $1' },
      [iccid],
    );
    await other.db.query(
      { name: 'test_wake', text: 'update execution_queue set due_at = now() where iccid = $1' },
      [iccid],
    );
    other.startWorker(createMockNetwork({ delayMs: 0 }));
    await until(
      () => find(id),
      ({ status }) => status === 'succeeded',
    );
    expect(await rowsOf(iccid)).toEqual([{ pending_change: null, executions: 0 }]);
    const told = await call(other, 'GET', `/v1/events?iccid=${iccid}&type=esim.terminated`);
    expect(told.json.data).toHaveLength(1);
  });

  test('goes on waiting while the core has an older version only', async () => {
    const { iccid, id } = await terminate();
    // As if the answer to the version before were only now taken.
    await other.db.query(
      { name: 'test_older', text: 'update core_queue set version = version - 1 where iccid = $1' },
      [iccid],
    );
    const sender = other.startCore(driver);
    await until(
      () => serviceOf(iccid),
      ({ applied_version }) => applied_version === 1,
    );
    await sender.stop(10_000);
    expect((await find(id)).status).toBe('running');
  });

  const rowsOf = (iccid: string) =>
    other.db.query(
      {
        name: 'test_pending',
        text: 'select pending_change, (select count(*)::int from execution_queue q where q.iccid = esims.iccid) as executions from esims where iccid = $1',
      },
      [iccid],
    );
});

test('a suspension that waits for a core ends by command once the deployment sends commands again', async () => {
  const iccid = await order();
  const { id } = (await change(iccid, 'suspend')).json;
  await waiting(id);
  const { databaseUrl } = service;
  const other = await startService({ mode: 'live', core: 'commands', databaseUrl });
  try {
    await service.db.query(
      { name: 'test_due', text: `update execution_queue set due_at = now() + interval '1 hour'` },
      [],
    );
    const text = `update execution_queue set due_at = now() where id = (select (pending_change ->> 'execution_id')::uuid from esims where iccid = $1)`;
    const worker = other.startWorker(createMockNetwork({ delayMs: 0 }));
    await service.db.query({ name: 'test_due_now', text }, [iccid]);
    worker.wake();
    // Whichever worker gets it: the one for states waits again.
    await until(
      async () => {
        await service.db.query({ name: 'test_due_now', text }, [iccid]);
        return executionOf(id);
      },
      ({ status }) => status === 'succeeded',
    );
    expect(await esimOf(iccid)).toMatchObject({ status: 'suspended', service: { reason: 'suspended' } });
    const [row] = await service.db.query<{ pending_change: unknown }>(
      { name: 'test_pending', text: 'select pending_change from esims where iccid = $1' },
      [iccid],
    );
    expect(row?.pending_change).toBeNull();
  } finally {
    await other.stop();
  }
});

describe('a refused state', () => {
  test('is not sent again until a newer one exists', async () => {
    startSender();
    const iccid = await order();
    await applied(iccid);
    core.behave(() => ({ refuse: 'unknown subscriber' }));
    await report(iccid, { bytes: 1, country: 'JP' });
    await until(
      () =>
        service.db.query(
          { name: 'test_refused', text: 'select 1 from core_queue where iccid = $1 and is_refused' },
          [iccid],
        ),
      (rows) => rows.length === 1,
    );
    // Others are sent meanwhile.
    core.behave((command) => (command.iccid === iccid && command.version === 2 ? { refuse: 'no' } : 'apply'));
    await applied(await order());
    expect(
      core
        .commands()
        .filter((one) => one.iccid === iccid)
        .map(({ version }) => version),
    ).toEqual([1, 2]);
    await report(iccid, { bytes: 1, country: 'DE' });
    expect((await applied(iccid)).version).toBe(3);
  });
});

describe('accounts', () => {
  test('take turns: one with many changes does not hold up another’s only one', async () => {
    const other = await service.createAccount('Other');
    await service.db.query(
      {
        name: 'test_flood',
        text: `insert into core_queue (account_id, iccid, id, version, service, since, due_at)
          select $1, 'flood-' || n, gen_random_uuid(), 1, '{"state": "full"}', now(), now() - interval '1 hour'
          from generate_series(1, 20000) n`,
      },
      [service.accountUuid],
    );
    const iccid = await order({ ...service, key: other.key });
    startSender({ concurrency: 4 });
    await until(
      async () => core.lines.has(iccid),
      (isThere) => isThere,
    );
    expect(core.received.length).toBeLessThan(500);
    await sender?.stop(10_000);
    await service.db.query(
      { name: 'test_unflood', text: `delete from core_queue where iccid like 'flood-%'` },
      [],
    );
  });

  test('have at most their share in flight, so that one whose commands hang leaves room', async () => {
    const other = await service.createAccount('Hanging');
    const hanging: string[] = [];
    for (let n = 0; n < 6; n++) hanging.push(await order({ ...service, key: other.key }));
    core.behave(({ iccid }) => (hanging.includes(iccid) ? 'hang' : 'apply'));
    const worker = startSender({ concurrency: 4, timeoutMs: 60_000, leaseMs: 120_000 });
    await until(
      async () => core.received.length,
      (count) => count >= 2,
    );
    for (let n = 0; n < 30; n++) {
      worker.wake();
      await esimOf(hanging[0] as string, other.key);
    }
    expect(core.received).toHaveLength(2);
    await applied(await order());
    await sender?.stop(0);
    core.behave(() => 'apply');
    startSender();
    await until(
      async () => hanging.filter((iccid) => core.lines.has(iccid)).length,
      (count) => count === 6,
    );
  });
});
