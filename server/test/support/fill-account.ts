import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from './client.ts';
import type { Receiver } from './receiver.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';

type Tenant = TestService & { id: string };

/** A valid EID that contains these digits. */
function eidOf(digits: string): string {
  const start = `8904903${digits}`.padEnd(30, '0');
  const check = 98n - ((BigInt(start) * 100n) % 97n);
  return start + String(check).padStart(2, '0');
}

export const orderOf = (marker: string, eid: string) => ({
  ...{ product_id: 'prod_europe_5gb_30d', eid, reference: `ref-${marker}` },
  ...{ metadata: { [`key_${marker}`]: `value-${marker}` }, description: `for ${marker}` },
});

type Marked = { iccid: string; order: string; eid: string };

/** Orders an eSIM with the marker in every field that a client can fill, and uses it. */
export async function fillEsim(target: Tenant, marker: string): Promise<Marked> {
  const eid = eidOf(String(parseInt(marker, 36)).padStart(15, '0'));
  const { json: order } = await provision(target, `order-${marker}`, orderOf(marker, eid));
  const worker = target.startWorker(createMockNetwork({ delayMs: 0 }));
  const ended = (id: string) =>
    until(
      async () => (await call(target, 'GET', `/v1/executions/${id}`)).json,
      ({ status }) => status === 'succeeded',
    );
  const { iccid } = await ended(order.id);
  const post = (path: string, body: object) => call(target, 'POST', `/v1/esims/${iccid}${path}`, { body });
  const topUp = await post('/bundles', { product_id: 'prod_europe_1gb_7d', reference: `top-${marker}` });
  await ended(topUp.json.id);
  await call(target, 'PATCH', `/v1/esims/${iccid}`, {
    body: { description: `still for ${marker}`, metadata: { [`more_${marker}`]: `more-${marker}` } },
    idempotencyKey: `patch-${marker}`,
  });
  const link = await post('/install_links', { return_url: `https://shop.example/${marker}` });
  await fetch(link.json.url, {
    headers: { 'User-Agent': `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${marker}` },
  });
  for (const action of ['download', 'install', 'attach']) {
    await call(target, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, {
      body: { action, ...(action === 'attach' && { country: 'FR' }) },
    });
  }
  const at = Math.floor(target.clock.nowMs() / 1000);
  const record = { record_id: `r-${iccid}`, iccid, bytes: 10, at, country: 'DE' };
  const rejected = { ...record, record_id: `old-${marker}`, at: at - 40 * 86_400 };
  await call(target, 'POST', '/v1/usage_records', { body: { records: [record, rejected] } });
  await ended((await call(target, 'DELETE', `/v1/esims/${iccid}`)).json.id);
  await worker.stop(0);
  return { iccid, order: order.id, eid };
}

/** The rest that an account can fill, apart from its eSIMs. */
export async function fillAccount(
  target: Tenant,
  marker: string,
  receiver: Receiver,
  cidr = '203.0.113.78/32',
): Promise<void> {
  const post = (path: string, body: object) => call(target, 'POST', path, { body });
  const settled = async (answer: ReturnType<typeof post>) => {
    const { status, text } = await answer;
    if (status >= 300) throw new Error(text);
  };
  await settled(
    post('/v1/webhook_endpoints', {
      ...{ url: `${receiver.url}/${marker}`, enabled_event_types: ['*'], description: marker },
      metadata: { [marker]: marker },
    }),
  );
  await settled(post('/v1/api_keys', { name: marker, scopes: ['read'], allowed_cidrs: [cidr] }));
  await settled(
    call(target, 'PATCH', '/v1/branding', {
      body: {
        ...{ name: marker, support_url: `https://help.example/${marker}`, apn: marker },
        messages: { de: marker },
      },
    }),
  );
  await settled(call(target, 'PUT', `/v1/event_consumers/${marker}`, { body: { after: 'start' } }));
  await settled(post('/v1/events/test', { type: 'a.b', data: { anything: { about: marker } } }));
  await settled(
    post('/v1/batches', {
      orders: [{ product_id: 'prod_sandbox_declined', reference: `bat-${marker}`, metadata: { of: marker } }],
    }),
  );
  await call(target, 'GET', `/v1/products/prod_${marker}`);
  await call(target, 'POST', '/dashboard/api/session', {
    key: null,
    body: { api_key: target.key },
    headers: { Origin: target.url, 'User-Agent': marker },
  });
}
