import { expect, test } from 'vitest';
import { UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
import { createEndpointClaims } from './endpoint-claims.ts';
import { createLanes } from './lanes.ts';
import type { Parts } from './parts.ts';
import { createPostpone } from './postpone.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

const uuid = '0190a5d0-0000-7000-8000-00000000000e';
const place = signingSecretPlace(uuid, uuid, uuid);
const delivery = { account_id: uuid, endpoint_id: uuid, id: uuid, attempt_count: 0 } as ClaimedDelivery;

/** Postpones a delivery that is held and in flight; returns the statements that were run, and the reported errors. */
function createPostponing() {
  const [statements, reported, later]: [string[], unknown[], unknown[]] = [[], [], []];
  const given: Record<string, unknown[]> = {};
  const [lanes, claims] = [createLanes(), createEndpointClaims(() => performance.now())];
  const postpone = createPostpone({
    ...{ lanes, claims, holder: 'holder', leaseMs: 1_000 },
    ready: { addLater: (...added: unknown[]) => later.push(added) },
    onError: (error: unknown) => reported.push(error),
    db: {
      async query({ name }: { name: string }, values: unknown[]) {
        statements.push(name);
        given[name] = values;
        return [];
      },
    },
  } as unknown as Parts);
  function start(): ClaimedDelivery {
    lanes.claimed(uuid, uuid);
    expect(lanes.acquireSlot(uuid, true)).toBe(true);
    claims.hold(delivery);
    return delivery;
  }
  return { postpone, start, lanes, claims, statements, given, reported, later };
}

test('a process that cannot send leaves the endpoint to the others, and reports it once in a while', () => {
  const { postpone, start, claims, statements, reported } = createPostponing();
  for (let count = 0; count < 3; count++)
    postpone.unsent(start(), { unsent: 'no descriptor', isFault: true });
  expect([claims.mayClaim(uuid), new Set(statements)]).toEqual([false, new Set(['lease_end'])]);
  expect(reported).toEqual([new Error('webhooks cannot be sent: no descriptor')]);
});

test('what was not sent for a passing reason keeps the endpoint', () => {
  const { postpone, start, claims, statements, reported } = createPostponing();
  postpone.unsent(start(), { unsent: 'no connection was free', isFault: false });
  expect([claims.mayClaim(uuid), statements, reported]).toEqual([true, [], []]);
});

test('a process that cannot open a secret leaves the endpoint to the others', async () => {
  const { postpone, start, claims, statements } = createPostponing();
  await postpone.unreadable(start(), new UnreadableSecret(place, null, 'its key is missing'));
  expect([claims.mayClaim(uuid), statements]).toEqual([false, ['delivery_postpone', 'lease_end']]);
});

test('after a second there is another try to send what was not sent, and a minute after its secret could not be opened', async () => {
  const unsent = createPostponing();
  unsent.postpone.unsent(unsent.start(), { unsent: 'no connection was free', isFault: false });
  expect([unsent.later, unsent.lanes.isOpen(uuid)]).toEqual([[[uuid, uuid, 1_000]], false]);
  expect([unsent.lanes.standingOf(uuid), unsent.claims.begin(uuid).heldUuids]).toEqual(['untried', []]);
  const unreadable = createPostponing();
  await unreadable.postpone.unreadable(
    unreadable.start(),
    new UnreadableSecret(place, null, 'its key is missing'),
  );
  expect([unreadable.given['delivery_postpone']?.at(-1), unreadable.lanes.isOpen(uuid)]).toEqual([
    60_000,
    false,
  ]);
  expect([unreadable.lanes.standingOf(uuid), unreadable.claims.begin(uuid).heldUuids]).toEqual([
    'failing',
    [],
  ]);
  expect(unreadable.reported).toEqual([expect.any(UnreadableSecret)]);
});
