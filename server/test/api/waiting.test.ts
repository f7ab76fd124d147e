import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network, Reply } from '../../src/network/port.ts';
import { releaseOrphanedExecutions } from '../../src/orders/executions/runner.ts';
import { type ClaimedExecution, claimExecutionRows, release } from '../../src/orders/executions/sql/queue.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const mock = createMockNetwork({ delayMs: 0 });

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

type Shown = { id: string; waiting_for: string | null; next_attempt_at: number | null };

async function get(path: string) {
  return (await call(service, 'GET', path)).json;
}

/** The execution, after checking that the list shows the same. */
async function shown(id: string): Promise<Shown> {
  const [one, list] = [await get(`/v1/executions/${id}`), await get('/v1/executions')];
  expect(list.data.find((item: Shown) => item.id === id)).toEqual(one);
  return one;
}

const waiting = (id: string) => (want: RegExp) =>
  until(
    () => get(`/v1/executions/${id}`),
    ({ waiting_for: cause }) => want.test(cause ?? ''),
  );

const nowSeconds = () => Math.floor(Date.now() / 1_000);

function failing(reply: () => Promise<Reply<never>>): Network {
  return { ...mock, order: reply };
}

const unreachable: Reply<never> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The SM-DP+ at smdp.internal refused the connection.' },
};

test('a new execution says that it waits for a worker, in the answer to the order too', async () => {
  const { json: accepted } = await provision(service);
  expect(accepted.waiting_for).toMatch(/^It was accepted and starts automatically.*operator/);
  expect(accepted.next_attempt_at).toBe(accepted.created);
  const { waiting_for: cause, next_attempt_at: next } = await shown(accepted.id);
  expect(cause).toBe(accepted.waiting_for);
  expect(Math.abs((next as number) - nowSeconds())).toBeLessThan(60);
});

test('an execution that the network failed says so without naming a host, and when it is tried again', async () => {
  service.startWorker(
    failing(async () => unreachable),
    { retryScheduleMs: [3_600_000] },
  );
  const before = nowSeconds();
  const { json: accepted } = await provision(service);
  await waiting(accepted.id)(/^The network failed or did not answer\. .*automatic.*operator/);
  const { waiting_for: cause, next_attempt_at: next } = await shown(accepted.id);
  expect(cause).not.toContain('smdp.internal');
  expect(next).toBeGreaterThanOrEqual(before + 3_599);
  expect(next).toBeLessThanOrEqual(nowSeconds() + 3_601);
});

test('an execution that an internal error interrupted says so', async () => {
  service.startWorker(failing(() => Promise.reject(new Error('a bug at 10.0.0.1'))));
  const { json: accepted } = await provision(service);
  const { waiting_for: cause } = await waiting(accepted.id)(/^An internal error interrupted it\./);
  expect(cause).not.toContain('10.0.0.1');
});

test('an execution waits for nothing while an attempt runs, after an earlier failure too, and once it has ended', async () => {
  let finish = (_reply: Reply<never> | null) => {};
  const replies: Promise<Reply<never> | null>[] = [
    Promise.resolve(unreachable),
    new Promise((resolve) => {
      finish = resolve;
    }),
  ];
  let calls = 0;
  const network: Network = {
    ...mock,
    order: async (wanted) => (await replies[calls++]) ?? mock.order(wanted),
  };
  service.startWorker(network, { retryScheduleMs: [10] });
  const { json: accepted } = await provision(service);
  await until(
    async () => calls,
    (count) => count === 2,
  );
  const nothing = { waiting_for: null, next_attempt_at: null };
  expect(await shown(accepted.id)).toMatchObject({ status: 'running', attempts: 2, ...nothing });
  finish(null);
  const ended = await until(
    () => get(`/v1/executions/${accepted.id}`),
    ({ status }) => status === 'succeeded',
  );
  expect(ended).toMatchObject(nothing);
  expect(await shown(accepted.id)).toEqual(ended);
});

test('an execution whose worker stopped says that another takes over, and an old cause is not shown again', async () => {
  const { json: accepted } = await provision(service);
  await service.db.query(
    {
      name: 'test_lease_ended',
      text: `
update execution_queue
set leased_until = now() - interval '1 minute', due_at = now() - interval '1 hour', attempts = 2, fence = 2, progress = '{"waiting_for": "network"}'
where account_id = $1 and id = $2`,
    },
    [service.accountUuid, uuidOfId('exec', accepted.id)],
  );
  const { waiting_for: interrupted, next_attempt_at: next } = await shown(accepted.id);
  expect(interrupted).toMatch(/^It was interrupted and continues/);
  expect(next).toBeGreaterThan(nowSeconds() - 600);
  await releaseOrphanedExecutions(service.db);
  expect((await shown(accepted.id)).waiting_for).toMatch(/^It was accepted and starts automatically/);
});

test('an execution that a stopping worker gives back waits for a worker, whatever it waited for before', async () => {
  const { json: accepted } = await provision(service);
  const wanted = { count: 1, holder: randomUUID(), leaseMs: 60_000, since: null, iccids: [] };
  for (const [waitingFor, says] of [
    ['network', /^The network failed/],
    [null, /^It was accepted and starts automatically/],
  ] as const) {
    const { executions } = await claimExecutionRows(service.db, wanted);
    await release(service.db, executions[0] as ClaimedExecution, { delayMs: 0, waitingFor });
    expect((await shown(accepted.id)).waiting_for).toMatch(says);
  }
});

test('a cause that a newer release stored is shown in general words', async () => {
  const { json: accepted } = await provision(service);
  await service.db.query(
    {
      name: 'test_unknown_cause',
      text: `update execution_queue set progress = '{"waiting_for": "toString"}' where account_id = $1`,
    },
    [service.accountUuid],
  );
  expect((await shown(accepted.id)).waiting_for).toMatch(/^It was accepted and starts automatically/);
});
