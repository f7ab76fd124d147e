import type { Dispatcher } from 'undici';
import { expect, test, vi } from 'vitest';
import { UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
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

/** Runs a delivery that is held, and tells in order what is done with it. `isSlotFree`: false if its lane rejects it. */
async function done(deps: object, { isSlotFree = true, stopping = new AbortController().signal } = {}) {
  const steps: unknown[] = [];
  const note = (name: string) => () => void steps.push(name);
  const run = createDeliveryRunner({
    ...{ leaseMs: 5_000, timeoutMs: 1_000, clock: { nowMs: () => 7 }, isFresh: () => true },
    lanes: {
      acquireSlot: () => (isSlotFree ? true : Promise.resolve(false)),
      released: note('lane released'),
    },
    claims: { release: note('claim released'), isLeased: () => true },
    ready: { add: note('ready') },
    postpone: { unsent: note('unsent'), unreadable: async () => note('unreadable')() },
    recordResult: async (_: unknown, { ok }: { ok: boolean }, at: number) => void steps.push([ok, at]),
    names: { resolve: () => ({ kind: 'failed', error: 'not found' }) },
    ...deps,
  } as unknown as Deps);
  const delivery = { account_id: uuid, endpoint_id: uuid, id: uuid, attempt_count: 0 };
  const message = { event_id: uuid, url: 'https://a.example/', body: '{}' };
  await run({ ...delivery, ...message } as ClaimedDelivery, stopping, false);
  return steps;
}

const found = {
  names: { resolve: () => ({ kind: 'found', addresses: ['192.0.2.1'] }) },
  mayShowResponse: () => false,
};
const place = signingSecretPlace(uuid, uuid, uuid);

test('a delivery is given back if nothing was sent of it, and recorded if something was', async () => {
  expect(await done({}, { isSlotFree: false })).toEqual(['claim released']);
  const unleased = { claims: { release: () => {}, isLeased: () => false } };
  expect(await done(unleased)).toEqual(['lane released', 'ready']);
  const busy = { names: { resolve: () => ({ kind: 'unknown', reason: 'busy', isFault: false }) } };
  expect(await done(busy)).toEqual(['unsent']);
  const signingKeys = () => {
    throw new UnreadableSecret(place, null, 'its key is missing');
  };
  expect(await done({ ...found, signingKeys })).toEqual(['unreadable']);
  expect(await done({})).toEqual([[false, 7]]);
});

test('an attempt that a stop cuts off is given back, and one that succeeded before is recorded', async () => {
  const stopping = AbortSignal.abort();
  expect(await done({}, { stopping })).toEqual(['lane released', 'claim released']);
  const later = new AbortController();
  const dispatcherOf = () => ({
    dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
      const controller = {} as Dispatcher.DispatchController;
      handler.onResponseStart?.(controller, 200, {});
      handler.onResponseEnd?.(controller, {});
      later.abort();
      return true;
    },
  });
  const sent = await done({ ...found, signingKeys: () => [], dispatcherOf }, { stopping: later.signal });
  expect(sent).toEqual([[true, 7]]);
});
