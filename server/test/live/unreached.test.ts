import { afterEach, expect, test } from 'vitest';
import { createEs2Client } from '../../src/network/es2plus/client.ts';
import { call, provision } from '../support/client.ts';
import { startFakeSmdp } from '../support/fake-smdp.ts';
import { startService, type TestService } from '../support/service.ts';
import { startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** The fake SM-DP+, and a network whose client presents this certificate to this URL. */
async function connect({ url, cert }: { url?: string; cert?: '' }) {
  const setup = await startSmdpSetup({}, { iccids: 'theirs' });
  const client = createEs2Client({
    url: url ?? setup.smdp.url,
    tls: cert === '' ? { ...setup.tls.client, cert: '', key: '' } : setup.tls.client,
    protocolVersion: '2.2.0',
    connectTimeoutMs: 5_000,
  });
  stops.push(
    () => setup.stop(),
    () => client.close(),
  );
  return { ...setup, network: setup.networkWith({ client }) };
}

/** Orders on a network that cannot be reached: more often than the schedule of retries would allow, and longer than the breaker. */
async function orderInVain(setup: Awaited<ReturnType<typeof connect>>) {
  const service = await startService({ mode: 'live' });
  stops.push(() => service.stop());
  const pauses: (number | null)[] = [];
  service.startWorker(setup.network, {
    retryScheduleMs: [1],
    pause: { afterFailures: 3, pauseMs: 10_000 },
    onPause: (ms) => void pauses.push(ms),
  });
  const orders = await Promise.all([provision(service), provision(service), provision(service)]);
  await until(
    async () => pauses,
    ({ length }) => length >= 2,
  );
  for (const { json } of orders) expect(await look(service, json.id)).toMatchObject({ finished_at: null });
  expect(setup.troubles[0]).toMatchObject({ sent: false });
  expect(pauses.every((ms) => ms === 2_000)).toBe(true);
  return { service, ids: orders.map(({ json }) => json.id as string), pauses };
}

const look = async (service: TestService, id: string) =>
  (await call(service, 'GET', `/v1/executions/${id}`)).json;

test.each([
  ['refuses our certificate', { cert: '' as const }],
  ['accepts no connection', {}],
])('orders of an SM-DP+ that %s wait, and go on by themselves soon after', async (_, options) => {
  const setup = await connect(options);
  const { port } = setup.smdp;
  if (!('cert' in options)) await setup.smdp.stop();
  const { service, ids, pauses } = await orderInVain(setup);
  if ('cert' in options) await setup.smdp.stop();
  const back = await startFakeSmdp({ tls: { ...setup.tls.server, takesAnyone: true }, port });
  stops.push(() => back.stop());
  for (const id of ids) {
    const ended = await until(
      () => look(service, id),
      ({ finished_at }) => finished_at !== null,
    );
    // The attempts before the outage ended were not used up: the schedule has one.
    expect(ended).toMatchObject({ status: 'succeeded', attempts: 1 });
  }
  expect(pauses.at(-1)).toBeNull();
  expect(setup.smdp.calls).toEqual([]);
  expect(back.calls.filter(({ name }) => name === 'downloadOrder')).toHaveLength(3);
});

test('orders of an SM-DP+ whose name does not resolve wait', async () => {
  const setup = await connect({ url: 'https://smdp.invalid' });
  const { service, ids } = await orderInVain(setup);
  for (const id of ids) {
    const canceled = await call(service, 'POST', `/v1/executions/${id}/cancel`);
    expect([canceled.status, canceled.json.error?.code]).toEqual([200, 'canceled']);
  }
});
