import { expect, test } from 'vitest';
import { acceptExecution } from './accept.ts';

type Ctx = Parameters<typeof acceptExecution>[0];

const uuidOf = (n: number) => `018f2d6a-0000-7000-8000-${String(n).padStart(12, '0')}`;
const turns = async () => {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** Accounts with a limit, in a database whose transactions end when the test says so. */
function start() {
  let serial = 0;
  const open: (() => void)[] = [];
  const db = {
    async transaction(work: (tx: object) => Promise<unknown>) {
      await new Promise<void>((resolve) => open.push(resolve));
      return work({
        query: async ({ name }: { name: string }) => (name.includes('count') ? [{ count: 0 }] : []),
      });
    },
  };
  const order = (account: number) => {
    const ctx = {
      db,
      newUuid: () => Buffer.from(uuidOf(++serial).replaceAll('-', ''), 'hex'),
      clock: { nowMs: () => 1_800_000_000_000 },
      seats: { take: async () => null },
      signals: { announce() {} },
      account: { uuid: uuidOf(account), limits: { openExecutions: 100 } },
      apiKey: null,
      ...{ requestId: null, ip: null },
    } as unknown as Ctx;
    const wanted = { type: 'esim.provision' as const, productId: 'p', input: () => ({}) };
    const render = () => ({ status: 202, location: null, body: '{}' });
    return acceptExecution(ctx, wanted, { claim: null, render });
  };
  return { order, open };
}

test('orders of an account with a limit hold one connection, however many arrive and however long its lock takes', async () => {
  const { order, open } = start();
  const orders = [order(1)];
  await turns();
  for (let n = 0; n < 40; n++) orders.push(order(1));
  orders.push(order(2));
  await turns();
  expect(open).toHaveLength(2);
  while (open.length > 0) {
    open.shift()?.();
    await turns();
  }
  expect((await Promise.all(orders)).every(({ kind }) => kind === 'answered')).toBe(true);
});

test('what is kept for accounts with a limit is bounded: after a thousand others, an account begins anew', async () => {
  const { order, open } = start();
  const orders = [order(1)];
  await turns();
  for (let account = 2; account <= 1_001; account++) orders.push(order(account));
  await turns();
  expect(open).toHaveLength(1_001);
  orders.push(order(1), order(1_001));
  await turns();
  // Of the two, only the first account is not known any more.
  expect(open).toHaveLength(1_002);
  while (open.length > 0) {
    open.shift()?.();
    await turns();
  }
  await Promise.all(orders);
});
