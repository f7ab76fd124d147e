import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { continueGroupRetries } from '../../src/orders/operator/continue-group-retries.ts';
import { listFailedGroups, listWaitingGroups, makeMembersDue } from '../../src/orders/operator/sql/groups.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { lowestUuid } from '../../src/platform/ids/uuid-range.ts';
import { call, provision } from '../support/client.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let operatorKey: string;
beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
});
afterAll(() => service.stop());

type Group = { id: string; failed: number; waiting: number; retry: { status: string } | null };

const query = (text: string, values: unknown[] = []) => service.db.pool.query(text, values);
const groups = async (): Promise<Group[]> =>
  (await call(service, 'GET', '/v1/operator/failure_groups', { key: operatorKey })).json.data;
const retry = (group: string) =>
  call(service, 'POST', `/v1/operator/failure_groups/${group}/retry`, { key: operatorKey });

/** Fails if it would go on for ever. */
async function continueRetries(): Promise<void> {
  let steps = 0;
  const transaction: typeof service.db.transaction = (work) =>
    ++steps > 20 ? Promise.reject(new Error('it does not end')) : service.db.transaction(work);
  await continueGroupRetries({ ...service.db, transaction }, service.service, new AbortController().signal);
}

let last = 0;
const newGroup = () => `fg_${String(++last).padStart(24, '0')}`;

/** As after a first attempt that failed; an order of `isHeld` runs again. */
async function insertWaiting(message: string, isHeld = false): Promise<string> {
  const id = uuidOfId('exec', (await provision(service)).json.id) as string;
  const progress = { waiting_for: 'network', last_error: { code: 'declined', message, network: message } };
  await query(
    `update execution_queue
     set attempts = 1, fence = 1, due_at = now() + interval '1 hour', progress = $2,
       leased_until = case when $3 then now() + interval '1 hour' end
     where id = $1`,
    [id, progress, isHeld],
  );
  return id;
}

const dueOf = async (ids: string[]) =>
  (await query('select due_at <= now() as is_due from execution_queue where id = any($1) order by id', [ids]))
    .rows;
const groupOf = async (message: string) =>
  (await listWaitingGroups(service.db, 100)).find(({ samples }) => samples[0]?.message === message);

test('a group of failures is counted up to a number, which bounds what the list reads', async () => {
  const group = newGroup();
  for (let n = 0; n < 3; n++) await insertFailed(service, 'declined', group);
  const bounds = { sinceUuid: lowestUuid, maxCount: 2, groups: 100 };
  const found = (await listFailedGroups(service.db, bounds)).find(({ id }) => id === group);
  expect(found).toMatchObject({ count: 2 });
});

test('a group has what waits after a failure, and not what runs again', async () => {
  await insertWaiting('one.example');
  await insertWaiting('one.example', true);
  expect(await groupOf('one.example')).toMatchObject({ count: 1 });
});

test('of a group in which executions only wait, one is tried first', async () => {
  const ids = [await insertWaiting('two.example'), await insertWaiting('two.example')];
  const group = (await groupOf('two.example'))?.id as string;
  expect((await retry(group)).json).toMatchObject({ waiting: 2, retry: { status: 'testing', retried: 0 } });
  expect(await dueOf(ids)).toEqual([{ is_due: true }, { is_due: false }]);
});

test('an execution that a request has locked is passed over, and the others of its group are made due', async () => {
  const ids = [await insertWaiting('three.example'), await insertWaiting('three.example')];
  const group = (await groupOf('three.example'))?.id as string;
  const other = await service.db.pool.connect();
  await other.query('begin');
  await other.query('select from execution_queue where id = $1 for update', [ids[0]]);
  const waking = makeMembersDue(service.db, group, 10);
  await Promise.race([waking, untilLockIsAwaited(service)]);
  const due = await dueOf(ids);
  await other.query('rollback');
  other.release();
  await waking;
  expect(due).toEqual([{ is_due: false }, { is_due: true }]);
});

test('a retry that waits for its first execution does not hold up the retry of another group', async () => {
  const [first, second] = [newGroup(), newGroup()];
  await insertFailed(service, 'declined', first);
  await insertFailed(service, 'declined', second);
  expect((await retry(first)).status).toBe(202);
  const { json } = await retry(second);
  // Only the second one's.
  await query(`update execution_queue set due_at = now() + interval '1 hour' where id <> $1`, [
    uuidOfId('exec', json.retry.execution_id),
  ]);
  const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
  await until(
    async () => (await call(service, 'GET', `/v1/executions/${json.retry.execution_id}`)).json.status,
    (status) => status === 'succeeded',
  );
  await worker.stop(0);
  await continueRetries();
  const { rows } = await query(
    'select status from failure_group_retries where group_id = any($1) order by group_id',
    [[first, second]],
  );
  expect(rows).toEqual([{ status: 'testing' }, { status: 'succeeded' }]);
});

test('executions that cannot be retried are passed over, however many stand before one that can', async () => {
  const group = newGroup();
  await insertFailed(service, 'declined', group);
  const { json } = await retry(group);
  // More than a batch.
  for (let n = 0; n < 21; n++) await insertFailed(service, 'canceled', group);
  const retriable = await insertFailed(service, 'declined', group);
  await query(`update failure_group_retries set status = 'running', last_id = $2 where group_id = $1`, [
    group,
    uuidOfId('exec', retriable),
  ]);
  await continueRetries();
  expect((await call(service, 'GET', `/v1/executions/${retriable}`)).json.retried_by).toMatch(/^exec_/);
  const { rows } = await query('select status, retried from failure_group_retries where group_id = $1', [
    group,
  ]);
  expect([rows, json.retry.status]).toEqual([[{ status: 'succeeded', retried: 2 }], 'testing']);
});

test('of two operators who retry a group at once, one is told that it runs', async () => {
  const group = newGroup();
  for (let n = 0; n < 2; n++) await insertFailed(service, 'declined', group);
  const other = await service.db.pool.connect();
  await other.query('begin');
  await other.query(
    `insert into failure_group_retries (id, group_id, status, account_id, execution_id, after_id, last_id, retried, origin, created_at)
     select one, $1, 'testing', one, one, one, one, 0, '{}', now() from gen_random_uuid() as one`,
    [group],
  );
  const retrying = retry(group);
  await untilLockIsAwaited(service);
  await other.query('commit');
  other.release();
  const { status, json } = await retrying;
  expect([status, json.error.code]).toEqual([409, 'state_conflict']);
  expect((await groups()).find(({ id }) => id === group)).toMatchObject({ failed: 2 });
});
