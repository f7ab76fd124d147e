import { expect, test, vi } from 'vitest';
import { createEndpointClaims } from './endpoint-claims.ts';
import { createLanes } from './lanes.ts';
import { createDeliveryRunner } from './run-delivery.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

type Deps = Parameters<typeof createDeliveryRunner>[0];

const uuid = '0190a5d0-0000-7000-8000-00000000000e';

test('a delivery whose attempt ends in an error of ours is free again when its lease has ended', async () => {
  vi.useFakeTimers();
  try {
    const [lanes, claims] = [createLanes(), createEndpointClaims(() => performance.now())];
    const run = createDeliveryRunner({
      ...{ lanes, claims, leaseMs: 5_000, clock: { nowMs: () => 0 } },
      names: {
        resolve: () => {
          throw new Error('a bug');
        },
      },
    } as unknown as Deps);
    const delivery = { account_id: uuid, endpoint_id: uuid, id: uuid, attempt_count: 0 };
    const claimed = { ...delivery, url: 'https://a.example/' } as ClaimedDelivery;
    lanes.claimed(uuid, uuid);
    claims.hold(claimed);
    const held = () => claims.begin(uuid).heldUuids;
    await expect(run(claimed, new AbortController().signal, false)).rejects.toThrow('a bug');
    vi.advanceTimersByTime(4_999);
    expect(held()).toEqual([uuid]);
    vi.advanceTimersByTime(1);
    expect(held()).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
