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

test('a call that was aborted is not done, also on a network without delay', async () => {
  const { order, cancel } = createMockNetwork({ delayMs: 0 });
  const call = { id: 'x', attempt: 1, signal: AbortSignal.abort(), iccid };
  const profile = { matchingId: 'AB-12', eid: null, isUnconfirmed: false };
  expect((await order({ ...call, productId: 'prod_us_1gb_7d', ...anyDevice })).kind).toBe('failed');
  expect((await cancel({ ...call, ...profile })).kind).toBe('failed');
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

test.each(['prod_sandbox_flaky', 'prod_sandbox_declined', 'prod_sandbox_out_of_stock'])(
  'a top-up with %s fails as an order of it does',
  async (productId) => {
    const { order, topUp } = createMockNetwork({ delayMs: 0 });
    const call = { id: 'x', attempt: 1, signal: new AbortController().signal, productId, iccid };
    const reply = await topUp?.(call);
    expect(reply?.kind).not.toBe('done');
    expect(reply).toEqual(await order({ ...call, ...anyDevice }));
  },
);
