import { expect, test } from 'vitest';
import { sandboxCatalog } from '../../src/accounts/products/sandbox-catalog.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { describeNetwork } from './conformance.ts';

const iccid = '8999901000000000018';
const anyDevice = { profileType: null, eid: null };

describeNetwork('the mock', async () => ({
  network: createMockNetwork({ delayMs: 0 }),
  wanted: { productId: 'prod_us_1gb_7d', ...anyDevice },
  iccid,
}));

test('the mock is stateless: another instance gives the same answers', async () => {
  const signal = new AbortController().signal;
  for (const { id: productId } of sandboxCatalog) {
    for (const attempt of [1, 2, 3, 4]) {
      const call = { id: `x.order`, attempt, signal, productId, ...anyDevice, iccid };
      expect(await createMockNetwork({ delayMs: 0 }).order(call)).toEqual(
        await createMockNetwork({ delayMs: 0 }).order(call),
      );
    }
  }
});

test('an order of the slow product can be aborted', async () => {
  const reply = await createMockNetwork({ delayMs: 10_000 }).order({
    id: 'x.order',
    attempt: 1,
    signal: AbortSignal.timeout(20),
    productId: 'prod_sandbox_slow',
    ...anyDevice,
    iccid,
  });
  expect(reply).toMatchObject({ kind: 'failed', reason: { code: 'network_unavailable' } });
});
