import { beforeEach, describe, expect, test } from 'vitest';
import { lowestUuidAt as lowestAt } from '../../../platform/ids/uuid-range.ts';
import { createEndpointClaims, type EndpointClaims } from './endpoint-claims.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

const endpoint = '0190a5d0-0000-7000-8000-00000000000e';
const lowest = '00000000-0000-0000-0000-000000000000';
const startMs = 1_800_000_000_000;

let nowMs: number;
let claims: EndpointClaims;
beforeEach(() => {
  nowMs = 0;
  claims = createEndpointClaims(
    () => nowMs,
    () => startMs + 100_000,
  );
});

/** A delivery whose id is `ms` after `startMs`. */
function delivery(ms: number, attempts = 0, fence = 1): ClaimedDelivery {
  const id = `${lowestAt(startMs + ms).slice(0, -1)}1`;
  return {
    account_id: lowest,
    id,
    event_id: id,
    endpoint_id: endpoint,
    attempt_count: attempts,
    order_key: null,
    fence,
    is_test: false,
    body: '{}',
    url: 'https://example.com/',
    secrets: '',
  };
}

const target = { version: '1', url: 'https://example.com/', secrets: '', secretsUntil: null };
const lease = (leftMs: number) => ({ endpointUuid: endpoint, fence: 1, leftMs, target });

/** A claim that takes these; `isFull` if it got as many as it requested. */
function take(deliveries: ClaimedDelivery[], isFull: boolean, leftMs = 25_000) {
  const position = claims.begin(endpoint);
  for (const one of deliveries) claims.hold(one);
  claims.end(endpoint, { lease: lease(leftMs), sentAtMs: nowMs, isFull });
  return position;
}

describe('the next claim of an endpoint', () => {
  test('starts after the last delivery taken, while claims are full', () => {
    expect(take([delivery(1_000), delivery(2_000)], true).afterUuid).toBe(lowest);
    take([delivery(3_000)], true); // looks back, because no claim has yet
    expect(claims.begin(endpoint).afterUuid).toBe(delivery(3_000).id);
  });

  test('looks back a second after a claim that was not full, and excludes held deliveries', () => {
    take([delivery(1_000), delivery(5_000)], false);
    expect(claims.begin(endpoint)).toEqual({
      afterUuid: lowestAt(startMs + 4_000),
      heldUuids: [delivery(1_000).id, delivery(5_000).id],
    });
  });

  test('looks back every 250 ms, even while claims are full', () => {
    take([delivery(1_000)], true);
    take([delivery(2_000)], true);
    nowMs += 249;
    expect(take([delivery(3_000)], true).afterUuid).toBe(delivery(2_000).id);
    nowMs += 1;
    expect(take([delivery(4_000)], true).afterUuid).toBe(lowestAt(startMs + 2_000));
  });

  test('continues after the last delivery that a look back took', () => {
    take([delivery(1_000), delivery(9_000)], false);
    take([delivery(8_500)], true); // committed late
    expect(claims.begin(endpoint).afterUuid).toBe(delivery(8_500).id);
  });

  test.each<[string, string, () => void]>([
    ['before a delivery that was released', lowestAt(startMs + 999), () => claims.release(delivery(1_000))],
    ['from the beginning when the scan found due deliveries', lowest, () => claims.restart(endpoint)],
    ['from an id that is known to be due', delivery(7).id, () => claims.lookFrom(endpoint, delivery(7).id)],
    ['a second back after a failed claim', lowestAt(startMs + 4_000), () => claims.abort(endpoint)],
  ])('starts %s, even if that happens during a claim', (_, expected, change) => {
    take([delivery(1_000), delivery(5_000)], true);
    claims.begin(endpoint);
    change();
    claims.end(endpoint, {
      lease: lease(1),
      sentAtMs: 0,
      isFull: false,
    });
    expect(claims.begin(endpoint).afterUuid).toBe(expected);
  });

  test('starts where the deliveries without an attempt ended, wherever retries were', () => {
    take([delivery(1_000), delivery(10, 1)], true);
    take([delivery(2_000), delivery(90_000, 1)], true);
    expect(claims.begin(endpoint).afterUuid).toBe(delivery(2_000).id);
  });

  test('looks back from the newest delivery, also if that was handed over', () => {
    take([delivery(1_000)], false);
    claims.holdQueued(delivery(9_000));
    expect(claims.begin(endpoint).afterUuid).toBe(lowestAt(startMs + 8_000));
  });

  test('does not skip ids from other clocks after an id from a clock that is ahead', () => {
    take([delivery(900_000)], false);
    expect(claims.begin(endpoint).afterUuid).toBe(lowestAt(startMs + 99_000));
  });

  test('does not skip the rest of a backlog when it looks back', () => {
    take([delivery(50_000)], false);
    claims.restart(endpoint);
    take([delivery(1_000)], true);
    nowMs += 250;
    expect(claims.begin(endpoint).afterUuid).toBe(delivery(1_000).id);
  });

  test('waits for the one that runs, which would take the same deliveries', () => {
    expect(claims.mayClaim(endpoint)).toBe(true);
    claims.begin(endpoint);
    expect(claims.mayClaim(endpoint)).toBe(false);
    claims.end(endpoint, { lease: lease(25_000), sentAtMs: nowMs, isFull: false });
    expect(claims.mayClaim(endpoint)).toBe(true);
  });

  test('is refused while the endpoint is avoided', () => {
    expect(claims.avoid(endpoint, 3_000)).toBe(true);
    expect(claims.mayClaim(endpoint)).toBe(false);
    nowMs += 3_000;
    expect(claims.mayClaim(endpoint)).toBe(true);
    take([delivery(1)], true);
    expect(claims.avoid(endpoint, 3_000)).toBe(false);
  });

  test('still excludes a delivery whose earlier attempt is dropped or released late', () => {
    take([delivery(1_000)], true);
    const retry = delivery(1_000, 1);
    claims.hold(retry);
    claims.drop(delivery(1_000));
    claims.release(delivery(1_000));
    expect(claims.begin(endpoint).heldUuids).toEqual([retry.id]);
  });

  test('excludes held retries wherever it starts, but not settled deliveries', () => {
    const retry = delivery(10, 1);
    take([retry, delivery(1_000)], true);
    take([delivery(2_000)], true);
    claims.drop(delivery(1_000));
    claims.drop(delivery(2_000));
    expect(claims.begin(endpoint).heldUuids).toEqual([retry.id]);
    claims.drop(retry);
    expect(claims.begin(endpoint).heldUuids).toEqual([]);
  });
});

describe('a lease', () => {
  test('covers an attempt that would end before it expires, counted from before the claim was sent', () => {
    take([delivery(1)], true, 20_000);
    nowMs = 5_000;
    expect(claims.isLeased(delivery(1), 15_000)).toBe(true);
    nowMs = 5_001;
    expect(claims.isLeased(delivery(1), 15_000)).toBe(false);
  });

  test('is no longer for an answer that took long: the database counts from when it was asked', () => {
    claims.begin(endpoint);
    claims.hold(delivery(1));
    nowMs = 4_000;
    claims.end(endpoint, { lease: lease(20_000), sentAtMs: 0, isFull: true });
    expect([claims.isLeased(delivery(1), 16_000), claims.isLeased(delivery(1), 16_001)]).toEqual([
      true,
      false,
    ]);
  });

  test('does not cover a delivery that was claimed under another fence', () => {
    take([delivery(1, 0, 7)], true);
    expect(claims.isLeased(delivery(1, 0, 7), 1)).toBe(false);
  });

  test('of another process is remembered until the endpoint is found again', () => {
    claims.begin(endpoint);
    claims.end(endpoint, { lease: null, sentAtMs: 0, isFull: false });
    expect([claims.isRefused(endpoint), claims.mayClaim(endpoint)]).toEqual([true, true]);
    claims.restart(endpoint);
    expect(claims.isRefused(endpoint)).toBe(false);
    claims.begin(endpoint);
    claims.end(endpoint, { lease: null, sentAtMs: 0, isFull: false });
    claims.lookFrom(endpoint, lowest);
    expect(claims.isRefused(endpoint)).toBe(false);
  });

  test('is not forgotten while a claim runs, nor given up', () => {
    claims.begin(endpoint);
    nowMs = 600_000;
    claims.forgetIdle();
    expect([claims.mayClaim(endpoint), claims.idleEndpoints()]).toEqual([false, []]);
  });

  test('is not forgotten within a minute of a delivery that was handed over', () => {
    take([], false, 1);
    nowMs = 50_000;
    claims.holdQueued(delivery(1));
    claims.drop(delivery(1));
    nowMs = 109_000;
    claims.forgetIdle();
    expect(claims.idleEndpoints()).toEqual([endpoint]);
  });

  test('is for what was queued after the last claim ended, also if that failed', () => {
    take([], false);
    nowMs = 5;
    claims.begin(endpoint);
    claims.abort(endpoint);
    expect([claims.leaseFor(endpoint, 5), claims.leaseFor(endpoint, 6)]).toEqual([
      null,
      expect.objectContaining({ fence: 1 }),
    ]);
  });

  test('covers nothing once leases are forgotten, whether a delivery is held or not', () => {
    for (const held of [[], [delivery(1)]]) {
      take(held, false);
      expect([claims.isLeased(delivery(1), 1), claims.leaseFor(endpoint, 1)]).toEqual([
        true,
        expect.anything(),
      ]);
      claims.forgetLeases();
      expect([claims.isLeased(delivery(1), 1), claims.leaseFor(endpoint, 1)]).toEqual([false, null]);
    }
  });

  test('is forgotten only after it has expired and no delivery is held', () => {
    take([delivery(1)], true, 90_000);
    nowMs = 80_000;
    claims.forgetIdle();
    expect(claims.idleEndpoints()).toEqual([]);
    claims.drop(delivery(1));
    claims.forgetIdle();
    expect(claims.idleEndpoints()).toEqual([endpoint]);
    nowMs = 90_001;
    claims.forgetIdle();
    expect(claims.idleEndpoints()).toEqual([]);
  });
});
