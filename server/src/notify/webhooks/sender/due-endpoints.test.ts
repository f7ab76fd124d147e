import { afterEach, expect, test, vi } from 'vitest';
import type { Database } from '../../../platform/db/database.ts';
import { lowestUuid, lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import { createDueEndpoints } from './due-endpoints.ts';
import { createEndpointClaims } from './endpoint-claims.ts';
import { createLanes, type Standing } from './lanes.ts';
import { createReadyEndpoints, createSlots } from './ready-endpoints.ts';
import type { ClaimedDelivery, EndpointLease } from './sql/claim-deliveries.ts';

afterEach(() => void vi.useRealTimers());

type Found = { accountUuid: string; endpointUuid: string; standing: Standing };

/** A database whose answers the test gives, by statement. */
function createDue() {
  const asked: string[] = [];
  const answers: Record<string, (() => Found[]) | undefined> = {};
  const db = {
    async query({ name }: { name: string }) {
      asked.push(name);
      return answers[name]?.() ?? [];
    },
  } as unknown as Database;
  const lanes = createLanes();
  const claims = createEndpointClaims(() => performance.now());
  const woken: string[] = [];
  const wake = {
    proven: () => woken.push('proven'),
    unproven: () => woken.push('unproven'),
    urgent: () => woken.push('urgent'),
  };
  const ready = createReadyEndpoints({ slots: createSlots(64), lanes, claims, wake });
  const clock = { nowMs: () => Date.now() };
  const due = createDueEndpoints({ db, clock, holder: 'holder', lanes, claims, ready, wake });
  return { due, ready, lanes, claims, asked, answers, woken };
}

const found = (endpointUuid: string, standing: Standing): Found => ({
  accountUuid: 'account',
  endpointUuid,
  standing,
});

test('the scan finds endpoints that no signal named, with their standing; the next one waits its time', async () => {
  const { due, ready, asked, answers, woken } = createDue();
  answers['sender_endpoints_due'] = () => [found('working', 'proven'), found('broken', 'failing')];
  await due.find();
  expect([ready.has('working'), ready.unproven(), woken]).toEqual([true, ['broken'], ['proven']]);
  await due.find();
  expect(asked).toEqual(['sender_endpoints_due']);
  due.scanNext();
  await due.find();
  expect(asked).toHaveLength(2);
});

test('an unproven endpoint with nothing due leaves the queue, unless it was added during the scan', async () => {
  const { due, ready, answers } = createDue();
  ready.add('done', 'account');
  answers['sender_endpoints_due'] = () => {
    ready.add('new', 'account');
    return [];
  };
  await due.find();
  expect(ready.unproven()).toEqual(['new']);
});

test('endpoints of a woken account are looked up; a proven one with recent deliveries is ready at once', async () => {
  const { due, ready, lanes, asked, answers } = createDue();
  lanes.claimed('recent', 'account');
  lanes.finished('recent', true);
  answers['sender_endpoints'] = () => [found('other', 'untried')];
  due.wakeAccount('account');
  expect([ready.has('recent'), ready.has('other')]).toEqual([true, false]);
  await due.find();
  expect([ready.has('other'), asked]).toEqual([true, ['sender_endpoints_due', 'sender_endpoints']]);
  due.wakeAccount('account');
  await due.find();
  expect(asked).toHaveLength(2); // too soon
});

test('after a scan, an endpoint is claimed from its first delivery, and after a signal from the recent ones', async () => {
  const { due, claims, answers } = createDue();
  const lease = { endpointUuid: 'late', fence: 1, leftMs: 60_000, target: {} as EndpointLease['target'] };
  const claim = () => {
    const { afterUuid } = claims.begin('late');
    claims.hold({ endpoint_id: 'late', id: lowestUuidAt(Date.now()), attempt_count: 0 } as ClaimedDelivery);
    claims.end('late', { lease, sentAtMs: performance.now(), isFull: true });
    return afterUuid;
  };
  claim();
  answers['sender_endpoints'] = () => [found('late', 'proven')];
  due.wakeAccount('account');
  await due.find();
  expect(claim()).not.toBe(lowestUuid);
  answers['sender_endpoints_due'] = () => [found('late', 'proven')];
  due.scanNext();
  await due.find();
  expect(claim()).toBe(lowestUuid);
});

test('what another process sends is not claimed at once for a woken account, but looked up', async () => {
  const { due, ready, lanes, claims } = createDue();
  for (const endpointUuid of ['ours', 'theirs']) {
    lanes.claimed(endpointUuid, 'account');
    lanes.finished(endpointUuid, true);
  }
  claims.begin('theirs');
  claims.end('theirs', { lease: null, sentAtMs: 0, isFull: false });
  due.wakeAccount('account');
  expect([ready.has('ours'), ready.has('theirs')]).toEqual([true, false]);
});

test('a woken account is looked up once, and later if that was too soon after another', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  const { due, asked, woken } = createDue();
  due.wakeAccount('account');
  await due.find();
  vi.advanceTimersByTime(200);
  await due.find();
  expect(asked).toEqual(['sender_endpoints_due', 'sender_endpoints']);
  due.findLater();
  expect(vi.getTimerCount()).toBe(0);
  due.wakeAccount('account');
  due.findLater();
  woken.length = 0;
  vi.advanceTimersByTime(200);
  expect(woken).toEqual(['unproven']);
  await due.find();
  expect(asked).toHaveLength(3);
});

test('a scan forgets what has not been used for a while', async () => {
  const { due, lanes, claims } = createDue();
  const forgotten = [vi.spyOn(lanes, 'forgetIdle'), vi.spyOn(claims, 'forgetIdle')];
  await due.find();
  for (const one of forgotten) expect(one).toHaveBeenCalledOnce();
});
