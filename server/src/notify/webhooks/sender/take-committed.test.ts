import { beforeEach, describe, expect, test } from 'vitest';
import { createEndpointClaims } from './endpoint-claims.ts';
import { createLanes } from './lanes.ts';
import { createReadyEndpoints, createSlots } from './ready-endpoints.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';
import { createCommittedTaker } from './take-committed.ts';

const endpoint = '0190a5d0-0000-7000-8000-00000000000e';
const account = '0190a5d0-0000-7000-8000-00000000000a';
const timeoutMs = 15_000;

let nowMs: number;
let isFresh: boolean;
let isFull: boolean;
let sent: ClaimedDelivery[];
let parts: ReturnType<typeof createParts>;
let take: ReturnType<typeof createCommittedTaker>;

function createParts() {
  const lanes = createLanes(() => nowMs);
  const claims = createEndpointClaims(() => nowMs);
  const slots = createSlots(64);
  const wake = { proven() {}, unproven() {}, urgent() {} };
  return { lanes, claims, slots, wake, ready: createReadyEndpoints({ slots, lanes, claims, wake }) };
}

beforeEach(() => {
  nowMs = 1_000;
  isFresh = true;
  isFull = false;
  sent = [];
  parts = createParts();
  const others = { db: null as never, holder: '', leaseMs: 0, onError() {} };
  const clock = { nowMs: () => nowMs };
  const place = { run: (delivery: ClaimedDelivery) => void sent.push(delivery), release() {} };
  take = createCommittedTaker({
    ...parts,
    ...others,
    clock,
    isFresh: () => isFresh,
    timeoutMs,
    reserve: () => (isFull ? null : place),
  });
  claim();
  parts.lanes.claimed(endpoint, account);
  expect(parts.lanes.acquireSlot(endpoint)).toBe(true);
  parts.lanes.finished(endpoint, true);
  nowMs = 2_000;
});

/** A claim of the endpoint that finds nothing, with a lease of 25 s. */
function claim({ isFull = false, secretsUntil = null as Date | null } = {}): void {
  const target = { version: '7', url: 'https://example.com/', secrets: 'id:sealed', secretsUntil };
  parts.claims.begin(endpoint);
  const lease = { endpointUuid: endpoint, fence: 3, leftMs: 25_000, target };
  parts.claims.end(endpoint, { lease, sentAtMs: nowMs, isFull });
}

let count = 0;

function committed({ version = '7', sentAtMs = nowMs } = {}) {
  count += 1;
  const uuid = `0190a5d0-0000-7000-8000-${String(count).padStart(12, '0')}`;
  const event = {
    accountUuid: account,
    uuid: uuid.replaceAll('-', ''),
    type: 'esim.provisioned',
    createdAt: new Date(0),
    body: '{"id":"evt"}',
    subscriptions: '*',
  };
  const queued = { event_id: uuid, delivery_id: uuid, endpoint_id: endpoint, endpoint_version: version };
  return { event, isTest: false, sentAtMs, deliveries: [queued] };
}

test('a delivery that was just queued is sent under the lease, with what the last claim read of its endpoint', () => {
  const given = committed();
  expect(take(given)).toBe(true);
  expect(sent).toEqual([
    {
      account_id: account,
      id: given.deliveries[0]?.delivery_id,
      event_id: given.deliveries[0]?.event_id,
      endpoint_id: endpoint,
      attempt_count: 0,
      order_key: null,
      fence: 3,
      is_test: false,
      body: '{"id":"evt"}',
      url: 'https://example.com/',
      secrets: 'id:sealed',
    },
  ]);
  expect(parts.claims.begin(endpoint).heldUuids).toEqual([sent[0]?.id]);
});

test('an event that nobody subscribed to needs no claim', () => {
  expect(take({ ...committed(), deliveries: [] })).toBe(true);
});

test('if one of an event’s deliveries is left, a claim is needed, and the others are sent', () => {
  const given = committed();
  const [mine] = given.deliveries as [(typeof given.deliveries)[0]];
  const foreign = { ...mine, delivery_id: endpoint, endpoint_id: account };
  expect(take({ ...given, deliveries: [foreign, mine] })).toBe(false);
  expect(sent.map(({ id }) => id)).toEqual([mine.delivery_id]);
});

describe('a delivery is left for a claim', () => {
  const claims = () => parts.claims;
  const passTo = (ms: number) => {
    nowMs = ms;
  };
  test.each<[string, () => void]>([
    [
      'if the sender’s leases may end',
      () => {
        isFresh = false;
      },
    ],
    [
      'if the sender has no room, or has stopped',
      () => {
        isFull = true;
      },
    ],
    ['if the lease ends before an attempt would', () => passTo(1_000 + 25_000 - timeoutMs)],
    ['if the lease is lost', () => claims().forgetLeases()],
    ['while a claim runs', () => void claims().begin(endpoint)],
    ['after a claim that took all it asked for', () => claim({ isFull: true })],
    ['if one is due at an unknown place', () => claims().restart(endpoint)],
    ['if another waits before it', () => claims().lookFrom(endpoint, account)],
    ['while the endpoint is avoided', () => void claims().avoid(endpoint, 10_000)],
    ['if its endpoint is about to be claimed', () => parts.ready.add(endpoint, account)],
    ['if a secret has ended', () => claim({ secretsUntil: new Date(nowMs) })],
    ['if the account has no slot left', () => parts.slots.proven.acquire(account, 32)],
    [
      'while its endpoint fails',
      () => {
        parts.lanes.claimed(endpoint, account);
        expect(parts.lanes.acquireSlot(endpoint)).toBe(true);
        parts.lanes.finished(endpoint, false);
        nowMs += 300; // longer than the pause
      },
    ],
    [
      'while its endpoint is paused',
      () => {
        parts.lanes.claimed(endpoint, account);
        expect(parts.lanes.acquireSlot(endpoint)).toBe(true);
        parts.lanes.postponed(endpoint, 500);
      },
    ],
    [
      'if its endpoint has as many as it can take',
      () => {
        for (let n = 0; n < 2; n++) parts.lanes.claimed(endpoint, account);
      },
    ],
  ])('%s', (_, change) => {
    change();
    nowMs += 1; // the statement is sent after it
    expect(take(committed())).toBe(false);
    expect(sent).toEqual([]);
  });

  test('if its endpoint was changed since the last claim', () => {
    expect(take(committed({ version: '8' }))).toBe(false);
  });

  test('if a claim has ended since its statement was sent, which may have found it', () => {
    nowMs += 10;
    claim();
    expect(take(committed({ sentAtMs: nowMs }))).toBe(false);
    expect(take(committed({ sentAtMs: nowMs + 1 }))).toBe(true);
  });
});

test('a delivery that was taken uses a slot and its endpoint’s room', () => {
  const before = parts.slots.proven.availableTo(account);
  take(committed());
  expect(parts.slots.proven.availableTo(account)).toBeLessThan(before);
  expect(parts.lanes.roomFor(endpoint)).toBe(1); // of two after one success
});
