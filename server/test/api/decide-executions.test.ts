import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunners } from '../../src/background/execution-runners.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network, Reply } from '../../src/network/port.ts';
import { continueGroupRetries } from '../../src/orders/operator/continue-group-retries.ts';
import {
  claimReturns,
  closeFailed,
  insertResolution,
  lockFailed,
} from '../../src/orders/operator/sql/executions.ts';
import { listFailedGroups, makeMembersDue, takeGroupRetry } from '../../src/orders/operator/sql/groups.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { lowestUuid } from '../../src/platform/ids/uuid-range.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const mock = createMockNetwork({ delayMs: 0 });
const wanted = { product_id: 'prod_europe_5gb_30d' };
const down = { code: 'network_unavailable', message: 'The network does not answer.' } as const;

type Shown = { status: string; waiting_for: string; iccid: string; attempts: number };

let service: TestService;
let operatorKey: string;
beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
});
afterAll(() => service.stop());

const get = async (path: string) => (await call(service, 'GET', path)).json;
const cancel = (id: string, idempotencyKey?: string) =>
  call(
    service,
    'POST',
    `/v1/executions/${id}/cancel`,
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
const order = async () => (await provision(service)).json.id as string;
const eventsOf = async (id: string) => {
  const { data } = await get('/v1/events?limit=100');
  return data.filter(({ data }: { data: { execution_id: string } }) => data.execution_id === id);
};
const execution = (id: string, isWanted: (shown: Shown) => boolean): Promise<Shown> =>
  until(() => get(`/v1/executions/${id}`), isWanted);

/** Runs a worker on this network until `work` is done. */
async function withWorker(
  network: Network,
  work: () => Promise<void>,
  overrides: Parameters<TestService['startWorker']>[1] = {},
): Promise<void> {
  const worker = service.startWorker(network, { retryScheduleMs: [3_600_000], ...overrides });
  try {
    await work();
  } finally {
    await worker.stop(0);
  }
}

test('an order that no worker has claimed fails as canceled, with its event, and never reaches the network', async () => {
  const id = await order();
  const { status, json } = await cancel(id, 'cancel-1');
  expect(status).toBe(200);
  expect(json).toMatchObject({
    status: 'failed',
    attempts: 0,
    iccid: null,
    error: { code: 'canceled', retryable: true },
  });
  expect(await get(`/v1/executions/${id}`)).toEqual(json);
  expect((await cancel(id, 'cancel-1')).json).toEqual(json);
  expect((await cancel(id)).json).toEqual(json);
  expect(await eventsOf(id)).toMatchObject([
    { type: 'esim.provisioning_failed', data: { error: { code: 'canceled' } } },
  ]);
  // The operator has nothing to find out about it.
  const group = 'select failure_group from executions where id = $1';
  const { rows } = await service.db.pool.query(group, [uuidOfId('exec', id)]);
  expect(rows).toEqual([{ failure_group: null }]);
  const { json: missing } = await cancel('exec_01k9400000000000000000000z');
  expect(missing.error).toMatchObject({ code: 'resource_missing', param: 'id' });
});

test('an order that may have reached the network, or has ended, cannot be canceled', async () => {
  const id = await order();
  const failing: Network = { ...mock, order: async () => ({ kind: 'failed', reason: down }) };
  await withWorker(failing, async () => {
    await execution(id, ({ status, waiting_for: cause }) => status === 'running' && cause !== null);
  });
  const reached = await cancel(id);
  expect(reached.json.error).toMatchObject({
    code: 'state_conflict',
    message: expect.stringMatching(/Wait/),
  });
  await service.db.query({ name: 'test_due', text: 'update execution_queue set due_at = now()' });
  await withWorker(mock, async () => void (await execution(id, ({ status }) => status === 'succeeded')));
  expect((await cancel(id)).json.error).toMatchObject({
    code: 'state_conflict',
    message: expect.stringMatching(/already succeeded/),
  });
  const shown = await call(service, 'GET', `/v1/operator/executions/${id}`, { key: operatorKey });
  expect(shown.json.steps[0], 'failed at first').toMatchObject({ name: 'order', status: 'done' });
});

test('a top-up that the network fails until the last attempt fails, and adds no bundle', async () => {
  const iccid = await insertEsim(service);
  const { json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body: wanted });
  const failing: Network = { ...mock, topUp: async () => ({ kind: 'failed', reason: down }) };
  const fail = async () => void (await execution(json.id, ({ status }) => status === 'failed'));
  await withWorker(failing, fail, { retryScheduleMs: [] });
  expect((await get(`/v1/executions/${json.id}`)).error).toMatchObject({
    ...{ code: down.code, retryable: true },
    message: expect.stringMatching(/^The network failed 1 times/),
  });
  expect((await get(`/v1/esims/${iccid}/bundles`)).data).toEqual([]);
});

test('an order that waits because no call arrived is canceled, and its ICCID from a range goes back', async () => {
  const unsent: Reply<never> = { kind: 'failed', reason: down, hadNoEffect: true };
  const id = await order();
  await withWorker({ ...mock, forgetsCalls: true, order: async () => unsent }, async () => {
    await execution(id, ({ status, waiting_for: cause }) => status === 'running' && cause !== null);
  });
  const { iccid } = await get(`/v1/executions/${id}`);
  expect((await cancel(id)).json).toMatchObject({ status: 'failed', iccid: null });
  const returned = await service.db.query<{ is_suspect: boolean }>(
    { name: 'test_returned', text: 'select is_suspect from returned_iccids where iccid = $1' },
    [iccid],
  );
  expect(returned).toEqual([{ is_suspect: false }]);
  expect((await call(service, 'GET', `/v1/esims/${iccid}`)).status).toBe(404);
});

test('an order that was claimed but not sent, because the network was paused meanwhile, is canceled', async () => {
  const runners = createRunners();
  const provisioning = runners['esim.provision'];
  const [first, second] = [await order(), await order()];
  let isPaused = false;
  const delayed: typeof runners = {
    ...runners,
    'esim.provision': {
      ...provisioning,
      async run(deps, held) {
        if (held.id.replaceAll('-', '') === uuidOfId('exec', second)) {
          await until(
            async () => isPaused,
            (paused) => paused,
          );
        }
        return provisioning.run(deps, held);
      },
    },
  };
  const gone: Reply<never> = { kind: 'failed', reason: down, isDown: true };
  await withWorker(
    { ...mock, forgetsCalls: true, order: async () => gone },
    async () => {
      for (const id of [first, second]) await execution(id, ({ waiting_for: cause }) => /failed/.test(cause));
    },
    {
      runners: delayed,
      pause: { afterFailures: 1, pauseMs: 60_000 },
      onPause: () => {
        isPaused = true;
      },
    },
  );
  expect((await cancel(first)).status).toBe(409);
  expect((await cancel(second)).json).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
});

test('an order that goes on with a profile of the network cannot be canceled before its first attempt', async () => {
  const id = await order();
  await service.db.query(
    {
      name: 'test_adopted',
      text: `update execution_queue set progress = '{"is_ordered": true}' where id = $1`,
    },
    [uuidOfId('exec', id)],
  );
  expect((await cancel(id)).json.error.code).toBe('state_conflict');
});

test('an order that a worker holds is neither canceled nor made due, although no call of it arrived yet', async () => {
  const id = await order();
  const hold = (until: string) =>
    service.db.pool.query(
      `update execution_queue set fence = 2, progress = '{"sent_order": false}', leased_until = ${until} where id = $1`,
      [uuidOfId('exec', id)],
    );
  await hold(`now() + interval '1 hour'`);
  expect((await cancel(id)).json.error.code).toBe('state_conflict');
  expect((await retry(id)).json.error.message).toMatch(/right now/);
  // The worker is gone.
  await hold(`now() - interval '1 second'`);
  expect((await retry(id)).status).toBe(202);
  await hold('null');
  // It stays before what came due later.
  const dueSince = `update execution_queue set due_at = now() - interval '1 hour' where id = $1 returning due_at`;
  const { rows } = await service.db.pool.query(dueSince, [uuidOfId('exec', id)]);
  expect((await retry(id)).status).toBe(202);
  const due = await service.db.pool.query('select due_at from execution_queue where id = $1', [
    uuidOfId('exec', id),
  ]);
  expect(due.rows).toEqual(rows);
  expect((await cancel(id)).json).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
});

test('of a cancellation and a worker that come at the same time, exactly one gets the order', async () => {
  const ids = await Promise.all(Array.from({ length: 60 }, order));
  const ordered = new Set<string>();
  const network: Network = {
    ...mock,
    order(wanted) {
      ordered.add(wanted.id.split('.')[0]?.replaceAll('-', '') as string);
      return mock.order(wanted);
    },
  };
  await withWorker(
    network,
    async () => {
      const answers = await Promise.all(ids.map((id) => cancel(id)));
      for (const [index, id] of ids.entries()) {
        const isCanceled = answers[index]?.status === 200;
        const { status } = await execution(id, ({ status }) => /succeeded|failed/.test(status));
        expect(status).toBe(isCanceled ? 'failed' : 'succeeded');
        expect(ordered.has(uuidOfId('exec', id) as string)).toBe(!isCanceled);
        expect(await eventsOf(id)).toHaveLength(1);
      }
    },
    { concurrency: 4 },
  );
});

test('a change of an eSIM is canceled too, and the eSIM stays as it is', async () => {
  const id = await order();
  let iccid = '';
  await withWorker(mock, async () => {
    ({ iccid } = await execution(id, ({ status }) => status === 'succeeded'));
  });
  const { json: change } = await call(service, 'DELETE', `/v1/esims/${iccid}`);
  expect((await cancel(change.id)).json).toMatchObject({ status: 'failed', error: { code: 'canceled' } });
  expect((await get(`/v1/esims/${iccid}`)).status).toBe('provisioned');
  const events: { type: string }[] = await eventsOf(change.id);
  expect(events.map(({ type }) => type)).toEqual(['execution.failed']);
});

const retry = (id: string) =>
  call(service, 'POST', `/v1/operator/executions/${id}/retry`, { key: operatorKey });

test('the operator makes an order that waits due at once', async () => {
  const id = await order();
  let fails = true;
  const network: Network = {
    ...mock,
    order: async (wanted) => (fails ? { kind: 'failed', reason: down } : mock.order(wanted)),
  };
  await withWorker(network, async () => {
    await execution(id, ({ status, waiting_for: cause }) => status === 'running' && cause !== null);
    fails = false;
    const { status, json } = await retry(id);
    expect([status, json.id]).toEqual([202, id]);
    expect(json.last_error).toMatchObject({ step: 'order', code: 'network_unavailable', network: null });
    expect(await execution(id, ({ status }) => status === 'succeeded')).toMatchObject({ attempts: 2 });
  });
});

test('an order of a batch that is retried counts as the new one does', async () => {
  const { id } = (await call(service, 'POST', '/v1/batches', { body: { ...wanted, quantity: 2 } })).json;
  const counts = (open: number) =>
    until(
      () => get(`/v1/batches/${id}`),
      (batch) => batch.open === open,
    );
  const reason = { code: 'declined', message: 'No.' } as const;
  const refusing: Network = { ...mock, order: async () => ({ kind: 'refused', reason }) };
  await withWorker(refusing, async () => expect(await counts(0)).toMatchObject({ succeeded: 0, failed: 2 }));
  const { data } = await get(`/v1/executions?batch_id=${id}&limit=1`);
  expect((await retry(data[0].id)).status).toBe(202);
  expect(await counts(1)).toMatchObject({ total: 2, succeeded: 0, failed: 1 });
  await withWorker(mock, async () => expect(await counts(0)).toMatchObject({ succeeded: 1, failed: 1 }));
});

test('the operator retries a failed change under the same conditions as the account', async () => {
  const id = await order();
  let [change, iccid] = ['', ''];
  const refusing: Network = {
    ...mock,
    cancel: async () => ({ kind: 'refused', reason: { code: 'declined', message: 'Not now.' } }),
  };
  await withWorker(refusing, async () => {
    ({ iccid } = await execution(id, ({ status }) => status === 'succeeded'));
    change = (await call(service, 'DELETE', `/v1/esims/${iccid}`)).json.id;
    await execution(change, ({ status }) => status === 'failed');
  });
  const shown = await call(service, 'GET', `/v1/operator/executions/${change}`, { key: operatorKey });
  expect(shown.json.steps).toMatchObject([{ name: 'terminate', status: 'failed' }]);
  await call(service, 'POST', `/v1/esims/${iccid}/suspend`);
  expect((await retry(change)).json.error.message).toMatch(/Another change of this eSIM is running/);
  await withWorker(mock, async () => {
    await until(
      () => get(`/v1/esims/${iccid}`),
      ({ status }) => status === 'suspended',
    );
    const { json: next } = await retry(change);
    expect(next).toMatchObject({ type: 'esim.terminate', iccid, retry_of: change });
    await execution(next.id, ({ status }) => status === 'succeeded');
  });
  expect((await get(`/v1/esims/${iccid}`)).status).toBe('terminated');
});

test('a failed top-up of an eSIM that has ended is not retried, as a new one would be refused', async () => {
  const iccid = await insertEsim(service);
  const id = await insertFailed(service, 'declined', null);
  const text = `update executions set type = 'bundle.add', iccid = $2 where id = $1`;
  await service.db.pool.query(text, [uuidOfId('exec', id), iccid]);
  await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
  const { status, json } = await retry(id);
  expect([status, json.error.code]).toEqual([409, 'state_conflict']);
  expect(json.error.message).toMatch(/is terminated\. .* one of: provisioned, active, suspended\.$/);
  expect(await get(`/v1/executions/${id}`)).not.toHaveProperty('retried_by');
});

test('a failed execution that another operator decides at the same moment is decided once', async () => {
  const id = await insertFailed(service, 'declined', 'fg_333333333333333333333333');
  const uuid = uuidOfId('exec', id) as string;
  let second: ReturnType<typeof retry> | undefined;
  await service.db.transaction(async (tx) => {
    await lockFailed(tx, service.accountUuid, uuid);
    second = retry(id);
    await untilLockIsAwaited(service);
    await closeFailed(tx, { accountUuid: service.accountUuid, uuid, retriedBy: uuid });
  });
  expect((await second)?.json.error.message).toMatch(/already retried/);
});

test('profiles to give back are claimed one by one, those first that are due longest, for the length of a lease', async () => {
  const ids = [await insertFailed(service, 'declined', null), await insertFailed(service, 'declined', null)];
  const uuids = ids.map((id) => uuidOfId('exec', id) as string);
  for (const [n, executionUuid] of uuids.entries()) {
    await insertResolution(service.db, {
      accountUuid: service.accountUuid,
      executionUuid,
      outcome: 'reserved',
      action: 'cancel',
      iccid: `899990700000000000${n}`,
      decided_by: { type: 'operator', id: null, name: null },
      at: new Date(),
    });
    const due = `update execution_resolutions set due_at = now() - $2 * interval '1 minute' where execution_id = $1`;
    await service.db.pool.query(due, [executionUuid, n]);
  }
  const claim = async () =>
    (await claimReturns(service.db, 1, 60_000)).map((one) => idOfUuid('exec', one.execution_id));
  expect([await claim(), await claim(), await claim()]).toEqual([[ids[1]], [ids[0]], []]);
  const held = `delete from execution_resolutions where execution_id = any($1)
    returning extract(epoch from leased_until - now()) between 1 and 60 as is_held`;
  expect((await service.db.pool.query(held, [uuids])).rows).toEqual([{ is_held: true }, { is_held: true }]);
});

test('what ended because the code is gone, the account canceled or a newer change replaced it is not retried', async () => {
  const body = { product_id: 'prod_sandbox_declined', confirmation_code: '4711' };
  const { json: secret } = await provision(service, undefined, body);
  await withWorker(mock, async () => void (await execution(secret.id, ({ status }) => status === 'failed')));
  expect((await retry(secret.id)).json.error.message).toMatch(/confirmation code/);
  const canceled = await order();
  await cancel(canceled);
  expect((await retry(canceled)).json.error.message).toMatch(/canceled/);
  const superseded = await insertFailed(service, 'superseded', null);
  expect((await retry(superseded)).json.error.message).toMatch(/newer change/);
});

test('the operator’s list finds executions of all accounts by status, code, account and age, in pages', async () => {
  const other = await service.createAccount('Other');
  const foreign = (await call(service, 'POST', '/v1/esims', { key: other.key, body: wanted })).json.id;
  const list = async (query: string) =>
    (await call(service, 'GET', `/v1/operator/executions?${query}`, { key: operatorKey })).json;
  const ids = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);
  expect((await ids('limit=1'))[0]).toBe(foreign);
  const accountId = idOfUuid('acct', other.accountUuid);
  expect(await ids(`account_id=${accountId}`)).toEqual([foreign]);
  expect(await ids(`account_id=${accountId}&status=queued`)).toEqual([foreign]);
  expect(await ids(`account_id=${accountId}&status=failed`)).toEqual([]);
  expect(await ids(`account_id=${accountId}&status=queued&error_code=declined`)).toEqual([]);
  expect(await ids('account_id=acct_nobody')).toEqual([]);
  expect(await ids('older_than=3600')).toEqual([]);
  service.clock.advance(7_200_000);
  expect(await ids('older_than=3600&limit=1')).toEqual([foreign]);
  const walked: string[] = [];
  let page = await list('limit=30');
  for (;;) {
    walked.push(...page.data.map(({ id }: { id: string }) => id));
    if (!page.has_more) break;
    page = await list(`limit=30&starting_after=${page.next_cursor}`);
  }
  const [{ count } = { count: 0 }] = await service.db.query<{ count: number }>({
    name: 'test_count_all',
    text: 'select ((select count(*) from executions) + (select count(*) from execution_queue))::integer as count',
  });
  expect(new Set(walked).size).toBe(count);
  expect(walked).toEqual([...walked].sort().reverse());
  const failed = await list('status=failed&limit=100');
  const declined = await list('error_code=declined&limit=100');
  expect(declined.data.length).toBeGreaterThan(0);
  expect(declined.data).toEqual(
    failed.data.filter(({ error }: { error: { code: string } }) => error.code === 'declined'),
  );
  await call(service, 'POST', `/v1/executions/${foreign}/cancel`, { key: other.key });
});

describe('a failure group', () => {
  const groups = async () =>
    (await call(service, 'GET', '/v1/operator/failure_groups', { key: operatorKey })).json.data as Group[];
  const retryGroup = (id: string) =>
    call(service, 'POST', `/v1/operator/failure_groups/${id}/retry`, { key: operatorKey });
  const continueRetries = () =>
    continueGroupRetries(service.db, service.service, new AbortController().signal);
  type Group = {
    id: string;
    code: string;
    failed: number;
    waiting: number;
    executions: string[];
    retry: { status: string; retried: number; execution_id: string } | null;
  };

  const stock = {
    code: 'out_of_stock',
    message: 'Sold out.',
    host: 'smdp.internal:8443',
    upstream: { subject_code: '8.2.5', reason_code: '3.7' },
  } as const;

  /** Orders of this many eSIMs, all refused because nothing is in stock. */
  async function soldOut(count: number): Promise<{ ids: string[]; group: Group }> {
    const ids = await Promise.all(Array.from({ length: count }, order));
    const refusing: Network = { ...mock, order: async () => ({ kind: 'refused', reason: stock }) };
    await withWorker(refusing, async () => {
      for (const id of ids) await execution(id, ({ status }) => status === 'failed');
    });
    const group = (await groups()).find(({ code }) => code === 'out_of_stock') as Group;
    return { ids, group };
  }

  test('has the failed and the waiting executions with the same cause, and its remedy', async () => {
    const { ids, group } = await soldOut(4);
    expect(group).toMatchObject({
      network: 'smdp.internal:8443',
      upstream_code: '8.2.5/3.7',
      message: 'Sold out.',
      remedy: expect.stringContaining('SIMPLANE_ICCID_RANGES'),
      failed: 4,
      waiting: 0,
      retry: null,
    });
    expect([...ids].sort().reverse().slice(0, 3)).toEqual(group.executions);
    const waiting = await order();
    const failing: Network = { ...mock, order: async () => ({ kind: 'failed', reason: stock }) };
    await withWorker(failing, async () => {
      await execution(waiting, ({ status, waiting_for: cause }) => status === 'running' && cause !== null);
    });
    expect((await groups()).find(({ id }) => id === group.id)).toMatchObject({ failed: 4, waiting: 1 });
    const smallest = 'fg_000000000000000000000000';
    await insertFailed(service, 'declined', smallest);
    const bounds = { sinceUuid: lowestUuid, maxCount: 100, groups: 1 };
    expect((await listFailedGroups(service.db, bounds)).map(({ id }) => id)).not.toEqual([smallest]);
    expect(await makeMembersDue(service.db, smallest, 10)).toEqual([]);
    expect(JSON.stringify(await get('/v1/executions?limit=100'))).not.toContain('smdp.internal');
  });

  test('is retried with the first order that can be: the oldest ones may not', async () => {
    const group = 'fg_444444444444444444444444';
    const withCode = await insertFailed(service, 'declined', group);
    const text = `update executions set input = '{"has_confirmation_code": true}' where failure_group = $1`;
    await service.db.pool.query(text, [group]);
    const retriable = await insertFailed(service, 'declined', group);
    const { status, json } = await retryGroup(group);
    expect(status).toBe(202);
    expect((await get(`/v1/executions/${retriable}`)).retried_by).toBe(json.retry.execution_id);
    expect((await get(`/v1/executions/${withCode}`)).retried_by).toBeUndefined();
    await cancel(json.retry.execution_id);
    await continueRetries();
  });

  test('is retried with one order first: if that fails, the rest stays', async () => {
    const { group } = await soldOut(1);
    const { status, json } = await retryGroup(group.id);
    expect([status, json.retry.status]).toEqual([202, 'testing']);
    expect((await retryGroup(group.id)).json.error.message).toMatch(/still running/);
    await continueRetries();
    const refusing: Network = { ...mock, order: async () => ({ kind: 'refused', reason: stock }) };
    await withWorker(refusing, async () => {
      await execution(json.retry.execution_id, ({ status }) => status === 'failed');
    });
    await continueRetries();
    await continueRetries(); // that it has stopped is final
    const after = (await groups()).find(({ id }) => id === group.id) as Group;
    expect(after.retry).toMatchObject({ status: 'stopped', retried: 1 });
    expect(after.failed).toBe(group.failed);
  });

  test('is retried as a whole when that one has succeeded, also after a crash in between', async () => {
    const { ids, group } = await soldOut(25);
    const { json } = await retryGroup(group.id);
    await withWorker(mock, async () => {
      await execution(json.retry.execution_id, ({ status }) => status === 'succeeded');
    });
    const later = await soldOut(1);
    await withWorker(mock, async () => {
      // Dies before the second batch: each statement of a batch commits, or none does.
      let batches = 0;
      const dying = {
        ...service.db,
        transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
          ++batches > 2 ? Promise.reject(new Error('killed')) : service.db.transaction(work),
      } as Database;
      const { signal } = new AbortController();
      await expect(continueGroupRetries(dying, service.service, signal)).rejects.toThrow('killed');
      await Promise.all([continueRetries(), continueRetries()]);
      await continueRetries();
      for (const id of ids) {
        const { retried_by: next } = await get(`/v1/executions/${id}`);
        await execution(next, ({ status }) => status === 'succeeded');
      }
    });
    const left = (await groups()).find(({ id }) => id === group.id) as Group;
    expect(left.retry).toMatchObject({ status: 'succeeded' });
    // The one that failed after the request is not part of it.
    expect(left).toMatchObject({ failed: 1, waiting: 0, executions: [later.ids[0]] });
    const [{ count } = { count: 0 }] = await service.db.query<{ count: number }>({
      name: 'test_count_retries',
      text: `
select count(*)::integer
from (select input from executions union all select input from execution_queue) one
where input ? 'retry_of'
group by input ->> 'retry_of'
order by 1 desc
limit 1`,
    });
    expect(count).toBe(1);
  });

  test('is retried by one process at a time: another passes over it', async () => {
    const { group } = await soldOut(2);
    const { json } = await retryGroup(group.id);
    await withWorker(mock, async () => {
      await execution(json.retry.execution_id, ({ status }) => status === 'succeeded');
    });
    const retryOf = async () => (await groups()).find(({ id }) => id === group.id)?.retry;
    await service.db.transaction(async (tx) => {
      expect(await takeGroupRetry(tx, lowestUuid)).toMatchObject({ group_id: group.id });
      await continueRetries();
      expect(await retryOf()).toMatchObject({ status: 'testing', retried: 1 });
    });
    await continueRetries();
    expect((await groups()).filter(({ id }) => id === group.id)).toEqual([]);
  });

  test('is shown and retried however many others have only failures that are too old', async () => {
    const old = Array.from({ length: 120 }, (_, n) => `fg_${String(n).padStart(24, '0')}`);
    for (const group of old) await insertFailed(service, 'declined', group);
    service.clock.advance(8 * 86_400_000);
    const group = 'fg_ffffffffffffffffffffffff';
    const recent = await insertFailed(service, 'declined', group);
    expect((await groups()).find(({ id }) => id === group)).toMatchObject({
      failed: 1,
      executions: [recent],
    });
    expect((await retryGroup(group)).status).toBe(202);
  });

  test('is retried without failures that are too old to be shown in it', async () => {
    const group = 'fg_222222222222222222222222';
    const old = await insertFailed(service, 'declined', group);
    service.clock.advance(8 * 86_400_000);
    const recent = await insertFailed(service, 'declined', group);
    expect((await groups()).find(({ id }) => id === group)).toMatchObject({
      failed: 1,
      executions: [recent],
    });
    const { json } = await retryGroup(group);
    await withWorker(mock, async () => {
      await execution(json.retry.execution_id, ({ status }) => status === 'succeeded');
    });
    await continueRetries();
    expect((await get(`/v1/executions/${recent}`)).retried_by).toBe(json.retry.execution_id);
    expect(await get(`/v1/executions/${old}`)).not.toHaveProperty('retried_by');
  });

  test('of unknown outcomes is not retried, and one that does not exist is missing', async () => {
    const { json: missing } = await retryGroup('fg_000000000000000000000000');
    expect(missing.error.code).toBe('resource_missing');
    await insertFailed(service, 'outcome_unknown', 'fg_111111111111111111111111');
    const { json } = await retryGroup('fg_111111111111111111111111');
    expect(json.error.message).toMatch(/resolve each/);
  });
});
