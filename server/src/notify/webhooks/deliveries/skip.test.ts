import { expect, test } from 'vitest';
import type { Queryable } from '../../../platform/db/database.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { countDeliveries } from './list.ts';
import { skipDelivery } from './skip.ts';

const uuid = '0190a000-0000-7000-8000-000000000000';
const id = idOfUuid('dlv', uuid);

/** Skips a pending delivery that a sender holds at the first `heldFor` looks; `promote` is what sends the next of its eSIM. */
async function skip(heldFor: number, promote = async (): Promise<object[]> => []) {
  const row = { id: uuid, event_id: uuid, endpoint_id: uuid, status: 'pending', attempt_count: 0 };
  const found = { ...row, created_at: new Date(0), duration_ms: null, finished_at: null };
  let cancels = 0;
  const tx = {
    async query({ name }: { name: string }) {
      if (name === 'delivery_find') return [found];
      cancels += 1;
      return cancels > heldFor ? [{ ...found, status: 'canceled', order_key: '8900' }] : [];
    },
  } as unknown as Queryable;
  const ctx = {
    account: { uuid },
    clock: { nowMs: () => 0 },
    db: { query: promote },
    signals: { announce() {} },
  } as unknown as Parameters<typeof skipDelivery>[1];
  return skipDelivery(tx, ctx, { params: { id }, query: {}, body: {} });
}

test('a delivery that moves between two statements is skipped all the same', async () => {
  expect((await skip(2)).body).toMatchObject({ id, status: 'canceled' });
});

test('a delivery that is held at each look is not skipped', async () => {
  await expect(skip(3)).rejects.toMatchObject({ code: 'state_conflict' });
});

test('a delivery is skipped although the next one of its eSIM cannot be sent at once', async () => {
  let tries = 0;
  const { body, afterCommit } = await skip(0, async () => {
    tries += 1;
    throw new Error('away');
  });
  expect(body.status).toBe('canceled');
  await afterCommit();
  expect(tries).toBe(1);
});

test('deliveries of no event are counted without asking the database', async () => {
  const db = { query: () => Promise.reject(new Error('asked')) } as unknown as Queryable;
  expect(await countDeliveries(db, uuid, [])).toEqual(new Map());
});
