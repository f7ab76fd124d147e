import { expect, test } from 'vitest';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { probeWebhookEndpoint } from './probe.ts';

const uuid = '0190a000-0000-7000-8000-000000000000';
const id = idOfUuid('we', uuid);

/** Probes an endpoint of which the database knows this, and whose request ends like this. */
function probe(rows: object[], result: object | 'busy') {
  const ctx = {
    db: { query: async () => rows },
    account: { uuid },
    clock: { nowMs: () => 0 },
    newUuid: () => Buffer.alloc(16),
    probes: { send: async () => result },
  } as unknown as Parameters<typeof probeWebhookEndpoint.beforeTransaction>[0];
  return probeWebhookEndpoint.beforeTransaction(ctx, { params: { id }, query: {}, body: {} });
}

test('a test request to an endpoint that does not exist is refused', async () => {
  await expect(probe([], { ok: true })).rejects.toMatchObject({ code: 'resource_missing', param: 'id' });
});

test('a test request that could not be sent is no result of the endpoint, and is to be repeated', async () => {
  await expect(probe([{}], { unsent: 'no DNS', isFault: true })).rejects.toMatchObject({
    code: 'unavailable',
    headers: { 'Retry-After': '1' },
  });
});
