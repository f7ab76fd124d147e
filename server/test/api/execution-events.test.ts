import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network } from '../../src/network/port.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;

const refused: Awaited<ReturnType<NonNullable<Network['topUp']>>> = {
  kind: 'refused',
  reason: { code: 'declined', message: 'The network declined it.' },
};

let service: TestService;
let receiver: Receiver;
let refusesTopUps = false;
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  service.startSender();
  const mock = createMockNetwork({ delayMs: 0 });
  service.startWorker({
    ...mock,
    suspend: async () => refused,
    topUp: async () => (refusesTopUps ? refused : { kind: 'done', result: {} }),
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

async function run(path: string, body: object = {}): Promise<Json> {
  const { json } = await call(service, 'POST', path, { body });
  return until(
    async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function eventsOf(executionId: string, target = service): Promise<Json[]> {
  return (await call(target, 'GET', `/v1/events?execution_id=${executionId}`)).json.data;
}

test('a top-up that succeeds is told as bundle.added, with the ids and the reference', async () => {
  const iccid = await insertEsim(service);
  refusesTopUps = false;
  const product_id = 'prod_europe_5gb_30d';
  const topUp = await run(`/v1/esims/${iccid}/bundles`, { product_id, reference: 'T-1' });
  expect(topUp.status).toBe('succeeded');
  const { data: bundles } = (await call(service, 'GET', `/v1/esims/${iccid}/bundles`)).json;
  const added = (await eventsOf(topUp.id)).filter(({ type }) => type === 'bundle.added');
  const ids = { iccid, bundle_id: bundles[0].id, product_id, execution_id: topUp.id };
  expect(added.map(({ data }) => data)).toEqual([{ ...ids, reference: 'T-1' }]);
});

test('a command that fails is told as execution.failed, with its cause', async () => {
  const iccid = await insertEsim(service);
  refusesTopUps = true;
  const product_id = 'prod_europe_5gb_30d';
  for (const [path, body] of [
    ['suspend', {}],
    ['bundles', { product_id, reference: 'T-2' }],
  ] as const) {
    const failed = await run(`/v1/esims/${iccid}/${path}`, body);
    expect(failed.status).toBe('failed');
    expect((await eventsOf(failed.id)).map(({ type, data }) => ({ type, ...data }))).toEqual([
      {
        type: 'execution.failed',
        iccid,
        execution_id: failed.id,
        execution_type: failed.type,
        product_id: failed.product_id,
        error: { code: failed.error.code, message: failed.error.message },
        ...(path === 'bundles' && { reference: 'T-2' }),
      },
    ]);
  }
  const { data } = (await call(service, 'GET', `/v1/esims/${iccid}/timeline`)).json;
  expect(data.filter(({ event_id }: Json) => event_id).map(({ kind }: Json) => kind)).toEqual([
    'command',
    'command',
  ]);
});

test('a command that is canceled is told as execution.failed', async () => {
  const waiting = await startService();
  try {
    const iccid = await insertEsim(waiting);
    const { json } = await call(waiting, 'POST', `/v1/esims/${iccid}/suspend`);
    await call(waiting, 'POST', `/v1/executions/${json.id}/cancel`);
    const [event, ...others] = await eventsOf(json.id, waiting);
    expect([event.type, event.data.error.code, others]).toEqual(['execution.failed', 'canceled', []]);
  } finally {
    await waiting.stop();
  }
});

test('a test event is delivered with its data as it was sent, and says that it is a test; others do not', async () => {
  const body = { url: receiver.url, enabled_event_types: ['*'] };
  await call(service, 'POST', '/v1/webhook_endpoints', { body });
  const data = { zeta: 1, iccid: '8999901000000000018', alpha: { z: null, a: [] } };
  const { json } = await call(service, 'POST', '/v1/events/test', { body: { type: 'my.own', data } });
  const iccid = await insertEsim(service);
  const simulate = { action: 'install' };
  await call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body: simulate });
  const received = await until(
    async () => receiver.received,
    (all) => all.length >= 2,
  );
  const [test] = received.filter(({ body }) => body.includes('my.own'));
  expect(test?.body).toContain(`"data":${JSON.stringify(data)}}`);
  expect(JSON.stringify(json.data)).toBe(JSON.stringify(data));
  const marks = received.map(({ body, headers }) => [JSON.parse(body).type, headers['service-test']]);
  expect(marks.sort()).toEqual([
    ['esim.installed', undefined],
    ['my.own', 'true'],
  ]);
});

test('a probe says that it is a test', async () => {
  const body = { url: receiver.url, enabled_event_types: ['none'] };
  const { json } = await call(service, 'POST', '/v1/webhook_endpoints', { body });
  await call(service, 'POST', `/v1/webhook_endpoints/${json.id}/probe`);
  const probe = receiver.received.find(({ body }) => body.includes('webhook_endpoint.probe'));
  expect(probe?.headers['service-test']).toBe('true');
});

test('an order of the held product waits before the network and can be canceled, or starts when its time has come', async () => {
  const body = { product_id: 'prod_sandbox_held' };
  const { json: held } = await call(service, 'POST', '/v1/esims', { body });
  const read = async (id: string) => (await call(service, 'GET', `/v1/executions/${id}`)).json;
  for (const execution of [held, await read(held.id)]) {
    expect([execution.status, execution.attempts]).toEqual(['queued', 0]);
    expect(execution.waiting_for).toContain('waits 60 seconds');
    expect(Math.abs(execution.next_attempt_at - execution.created - 60)).toBeLessThan(5);
  }
  const { json: canceled } = await call(service, 'POST', `/v1/executions/${held.id}/cancel`);
  expect([canceled.status, canceled.error.code]).toEqual(['failed', 'canceled']);
  const { json: other } = await call(service, 'POST', '/v1/esims', { body });
  await service.db.pool.query(
    `update execution_queue set due_at = now() where product_id = 'prod_sandbox_held'`,
  );
  const { iccid, attempts } = await until(
    () => read(other.id),
    ({ status }) => status === 'succeeded',
  );
  expect(attempts).toBe(1);
  const { json: topUp } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body });
  expect((await call(service, 'POST', `/v1/executions/${topUp.id}/cancel`)).json.error.code).toBe('canceled');
});
