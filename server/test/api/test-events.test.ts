import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryLockKey } from '../../src/platform/idempotency/try-lock-key.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const send = (key: string | null, n = 1, target: { url: string; key: string } = service) =>
  call(target, 'POST', '/v1/events/test', {
    body: { type: 'test.sent', data: { n } },
    ...(key !== null && { headers: { 'Idempotency-Key': key } }),
  });

const read = async (text: string) => (await service.db.pool.query(text)).rows;
const countEvents = async () => (await read('select count(*)::int as count from events'))[0].count;

test('test events of one moment share a statement; each has its event, its answer and its audit entry', async () => {
  const other = { url: service.url, key: (await service.createAccount('Other')).key };
  const before = await countEvents();
  // A statement that waits for the table: the others gather meanwhile.
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  await holder.query('lock table events in share row exclusive mode');
  const first = send(null, 0);
  await untilLockIsAwaited(service);
  const rest = Promise.all([send('one', 1), send('two', 2), send(null, 3), send('one', 4, other)]);
  await holder.query('commit');
  holder.release();
  const replies = [await first, ...(await rest)];
  expect(replies.map(({ status, json }) => [status, json.data.n])).toEqual(
    [0, 1, 2, 3, 4].map((n) => [202, n]),
  );
  expect(await countEvents()).toBe(before + 5);
  const { data: entries } = (await call(service, 'GET', '/v1/audit_log?action=event.test_sent')).json;
  expect(entries.map(({ target }: { target: { id: string } }) => target.id).sort()).toEqual(
    replies
      .slice(0, 4)
      .map(({ json }) => json.id)
      .sort(),
  );
  expect(entries[0]).toMatchObject({ actor: { name: 'Test' }, changes: { type: 'test.sent' } });
});

test('a repeated test event is answered with the first, sent and audited once; another one under its key is refused', async () => {
  const [first, before] = [await send('again', 1), await countEvents()];
  const repeated = await send('again', 1);
  expect(repeated.json).toEqual(first.json);
  expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  expect((await send('again', 2)).json.error.code).toBe('idempotency_key_reused');
  expect(await countEvents()).toBe(before);
  const { data } = (await call(service, 'GET', `/v1/audit_log?target=${first.json.id}`)).json;
  expect(data).toHaveLength(1);
});

test('the audit log does not repeat a key that was sent as the type of a test event', async () => {
  const body = { type: 'sp_test_0123456789abcdef', data: {} };
  const { json } = await call(service, 'POST', '/v1/events/test', { body });
  const { data } = (await call(service, 'GET', `/v1/audit_log?target=${json.id}`)).json;
  expect(data.map(({ changes }: { changes: object }) => changes)).toEqual([{ type: '[redacted]' }]);
});

test('a test event whose key another process works on is in progress, and not sent', async () => {
  const { accountUuid } = service;
  const before = await countEvents();
  const holder = await service.db.pool.connect();
  await holder.query('begin');
  await holder.query(`select ${tryLockKey(`'${accountUuid}'::uuid`, `'elsewhere'`)}`);
  const reply = await send('elsewhere');
  await holder.query('rollback');
  holder.release();
  expect([reply.status, reply.json.error.code]).toEqual([409, 'idempotency_in_progress']);
  expect(await countEvents()).toBe(before);
  expect((await send('elsewhere')).status).toBe(202);
});

test('two repetitions at once in two processes send one event', async () => {
  const beside = await startService({ databaseUrl: service.databaseUrl });
  const before = await countEvents();
  const target = { url: beside.url, key: service.key };
  const replies = await Promise.all([send('both'), send('both', 1, target), send('both', 1, target)]);
  await beside.stop();
  expect(await countEvents()).toBe(before + 1);
  expect(replies.map(({ status }) => status).filter((status) => status !== 202 && status !== 409)).toEqual(
    [],
  );
});
