import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../ids/uuid.ts';
import { type Keyring, UnreadableSecret } from '../../secrets/keyring.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../../worker/work-queue.ts';
import { type AccountShares, createAccountShares } from './account-shares.ts';
import type { AttemptResult, Unsent } from './attempt.ts';
import { type DeliverOptions, findAddresses, judge, sendOnce, toSettled, writeLogLine } from './deliver.ts';
import { createFairQueue } from './fair-queue.ts';
import { createLanes, type Standing } from './lanes.ts';
import { createReleaser, createSettler } from './settler.ts';
import { createSigningKeys } from './signing-keys.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  findEndpoints,
  findEndpointsDue,
  type KnownEndpoint,
  postponeDelivery,
  type Wanted,
} from './sql.ts';

export { freeAbandonedDeliveries } from './sql.ts';

type Options = Omit<DeliverOptions, 'signingKeys'> & {
  keyring: Keyring;
  concurrency: number;
  /** A lease is this much longer than an attempt may take: one that begins within it ends before another sender may take it. */
  leaseMarginMs?: number;
  /** What leases are measured by here. */
  monotonicMs?: () => number;
  onError(error: unknown, about?: object): void;
};

/** A delivery, and when it was asked for: its lease began a little later. */
type TimedClaim = { delivery: ClaimedDelivery; claimedAtMs: number };

type Unproven = Exclude<Standing, 'proven'>;

export type Sender = Omit<WorkQueue, 'wake'> & { wake(accountUuid?: string): void };

// Fallback scan. Costs 30 ms with 1,000 backlogs, so it runs rarely.
const scanEveryMs = 2_000;
// Endpoints that have not proven themselves get 40 attempts a second between them. Without a pace the claims of a thousand
// newcomers held up everyone else: p99 of a healthy endpoint was 20 to 120 times that of alone; at 80 a second 1.8 and 2.3,
// at 40 a second 1.7 and 1.7 in two runs each.
const paceMs = 50;
const unprovenAtOnce = 2;
const lookUpEveryMs = 200;
// Retries that are this near are waited for; the scan finds the others.
const soonMs = 10_000;
// How often a delivery is looked at again whose endpoint's secret cannot be opened.
const unreadablePauseMs = 60_000;
// After a delivery that could not be sent for a reason of ours: the reason mostly lasts a moment.
const unsentRestMs = 1_000;
const reportFaultsEveryMs = 10_000;

/** Sends what is due. The rows are the queue; this keeps track of which endpoints to look at and how much each can take. */
export function startSender(given: Options): Sender {
  const { db, concurrency, leaseMarginMs = 10_000, onError, keyring } = given;
  const { monotonicMs = () => performance.now() } = given;
  const options = { ...given, signingKeys: createSigningKeys(keyring) };
  const lanes = createLanes();
  const settle = createSettler(db);
  const giveBack = createReleaser(db);
  // Two queues, so that neither the places nor the claims of endpoints that work wait for those that may not.
  const provenAwake = new Map<string, string>();
  const unprovenAwake = { untried: createFairQueue(), failing: createFairQueue() };
  const places = { proven: Math.ceil(concurrency / 2), unproven: Math.floor(concurrency / 2) };
  // A share of each for every account: endpoints that worked until now can all begin to hang as well.
  const provenShares = createAccountShares(places.proven);
  const unprovenShares = createAccountShares(places.unproven);
  // The last quarter is for endpoints that were never tried: those that fail, of however many accounts, never hold them up.
  const reservedForUntried = Math.floor(places.unproven / 4);
  const accounts = new Set<string>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let pacedAtMs = Number.NEGATIVE_INFINITY;
  let faultReportedAtMs = Number.NEGATIVE_INFINITY;

  function wakeEndpoint(endpointUuid: string, accountUuid: string): void {
    const standing = lanes.standingOf(endpointUuid);
    if (standing !== 'proven') provenAwake.delete(endpointUuid);
    if (standing !== 'untried') unprovenAwake.untried.delete(endpointUuid);
    if (standing !== 'failing') unprovenAwake.failing.delete(endpointUuid);
    if (standing !== 'proven') unprovenAwake[standing].add({ endpointUuid, accountUuid });
    else if (!provenAwake.has(endpointUuid)) provenAwake.set(endpointUuid, accountUuid);
  }

  function isAwake(endpointUuid: string): boolean {
    const { untried, failing } = unprovenAwake;
    return provenAwake.has(endpointUuid) || untried.has(endpointUuid) || failing.has(endpointUuid);
  }

  function wakeLater(endpointUuid: string, accountUuid: string, delayMs: number): void {
    if (delayMs > soonMs) return;
    const wake = () => {
      wakeEndpoint(endpointUuid, accountUuid);
      slow.wake();
    };
    setTimeout(wake, delayMs).unref();
  }

  function found(places: KnownEndpoint[]): void {
    for (const { endpointUuid, accountUuid, standing } of places) {
      lanes.learn(endpointUuid, standing);
      wakeEndpoint(endpointUuid, accountUuid);
    }
    if (provenAwake.size > 0) fast.wake();
  }

  async function lookAround(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - scannedAtMs >= scanEveryMs) {
      scannedAtMs = nowMs;
      lanes.forgetIdle();
      const { untried, failing } = unprovenAwake;
      const before = [...untried.endpoints(), ...failing.endpoints()];
      const due = await findEndpointsDue(db);
      // Drop endpoints with nothing due (deleted, disabled, sent by others), so they don't consume the pace.
      const stillDue = new Set(due.map(({ endpointUuid }) => endpointUuid));
      for (const endpointUuid of before) {
        if (stillDue.has(endpointUuid)) continue;
        untried.delete(endpointUuid);
        failing.delete(endpointUuid);
      }
      found(due);
    }
    if (accounts.size === 0 || nowMs - lookedUpAtMs < lookUpEveryMs) return;
    lookedUpAtMs = nowMs;
    const named = [...accounts];
    accounts.clear();
    found(await findEndpoints(db, named));
  }

  /** They come off the list until it is known whether there is more, and then go to its end: each gets its turn. */
  function chooseProven(count: number): Wanted[] {
    const wanted: Wanted[] = [];
    let left = count;
    for (const [endpointUuid, accountUuid] of provenAwake) {
      if (left === 0) break;
      const slots = Math.min(left, lanes.roomFor(endpointUuid), provenShares.roomFor(accountUuid));
      if (slots === 0) continue;
      provenShares.taken(accountUuid, slots);
      wanted.push({ endpointUuid, accountUuid, slots });
      left -= slots;
      provenAwake.delete(endpointUuid);
    }
    return wanted;
  }

  function takeUnproven(standing: Unproven): Wanted | null {
    const reserved = standing === 'untried' ? 0 : reservedForUntried;
    const place = unprovenAwake[standing].take({
      mayTakeFor: (accountUuid) => unprovenShares.roomFor(accountUuid, reserved) > 0,
      hasRoom: (endpointUuid) => lanes.roomFor(endpointUuid) > 0,
    });
    return place && { ...place, slots: 1 };
  }

  /** Alternates between the untried and the failing, so neither kind waits for the other's line to end. */
  function chooseUnproven(count: number): Wanted[] {
    const wanted: Wanted[] = [];
    while (wanted.length < count) {
      const isUntriedsTurn = wanted.length % 2 === 0;
      const next =
        takeUnproven(isUntriedsTurn ? 'untried' : 'failing') ??
        takeUnproven(isUntriedsTurn ? 'failing' : 'untried');
      if (!next) break;
      unprovenShares.taken(next.accountUuid, next.slots);
      wanted.push(next);
    }
    return wanted;
  }

  /** What was wanted and not there goes back to its account's share. */
  async function claim(wanted: Wanted[], shares: AccountShares): Promise<TimedClaim[]> {
    if (wanted.length === 0) return [];
    const now = new Date(options.clock.nowMs());
    const claimedAtMs = monotonicMs();
    const got = new Map<string, number>();
    try {
      const deliveries = await claimDeliveries(db, wanted, options.timeoutMs + leaseMarginMs, now);
      for (const { endpoint_id: id, account_id: accountUuid } of deliveries) {
        got.set(id, (got.get(id) ?? 0) + 1);
        lanes.claimed(id, accountUuid);
      }
      return deliveries.map((delivery) => ({ delivery, claimedAtMs }));
    } finally {
      for (const { endpointUuid, accountUuid, slots } of wanted) {
        const unused = slots - (got.get(endpointUuid) ?? 0);
        if (unused > 0) shares.freed(accountUuid, unused);
        else wakeEndpoint(endpointUuid, accountUuid); // it may have more
      }
    }
  }

  /** A few at a time, with a pause: the work that a thousand newcomers make at once is spread out. */
  async function claimPaced(count: number): Promise<TimedClaim[]> {
    await sleep(Math.max(0, pacedAtMs + paceMs - performance.now()));
    pacedAtMs = performance.now();
    await lookAround();
    const wanted = chooseUnproven(Math.min(count, unprovenAtOnce));
    try {
      return await claim(wanted, unprovenShares);
    } finally {
      // Whoever had nothing is off the list now, so this ends.
      if (wanted.length > 0) slow.wake();
      else if (accounts.size > 0) setTimeout(slow.wake, lookUpEveryMs).unref();
    }
  }

  function runWithin(shares: AccountShares) {
    return async (held: TimedClaim, stopping: AbortSignal): Promise<RunResult> => {
      try {
        return await run(held, stopping);
      } finally {
        shares.freed(held.delivery.account_id, 1);
      }
    };
  }

  /** Gives a delivery back that says nothing about its endpoint: neither an attempt nor a failure is recorded. */
  async function postpone(delivery: ClaimedDelivery, { unsent, isFault }: Unsent): Promise<void> {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    lanes.postponed(endpointUuid, unsentRestMs);
    await giveBack(delivery);
    wakeLater(endpointUuid, accountUuid, unsentRestMs);
    if (!isFault || performance.now() - faultReportedAtMs < reportFaultsEveryMs) return;
    faultReportedAtMs = performance.now();
    onError(new Error(`webhooks cannot be sent: ${unsent}`));
  }

  async function run({ delivery, claimedAtMs }: TimedClaim, stopping: AbortSignal): Promise<RunResult> {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    const turn = lanes.turn(endpointUuid);
    if (turn !== true && !(await turn)) {
      await giveBack(delivery);
      return undefined;
    }
    let result: AttemptResult | Unsent;
    try {
      const answer = findAddresses(options, delivery, stopping);
      const found = answer instanceof Promise ? await answer : answer; // a promise a delivery would cost more
      if (monotonicMs() - claimedAtMs >= leaseMarginMs) {
        lanes.released(endpointUuid);
        await giveBack(delivery);
        wakeEndpoint(endpointUuid, accountUuid);
        return undefined;
      }
      result = 'addresses' in found ? await sendOnce(options, delivery, found.addresses, stopping) : found;
    } catch (error) {
      if (error instanceof UnreadableSecret) return putOff(delivery, error);
      lanes.released(endpointUuid);
      throw error;
    }
    if ('unsent' in result) {
      await postpone(delivery, result);
      return undefined;
    }
    if (stopping.aborted && !result.ok) {
      lanes.released(endpointUuid);
      await giveBack(delivery);
      return undefined;
    }
    const restMs = lanes.finished(endpointUuid, result.ok);
    const mayHaveMore = isAwake(endpointUuid);
    if (!result.ok || mayHaveMore) wakeEndpoint(endpointUuid, accountUuid);
    if (result.ok && mayHaveMore) fast.wake();
    const settled = toSettled(options, delivery, result);
    const health = await settle(settled);
    if (health && !result.ok) await judge(options, health, result);
    options.onAttempt(settled);
    writeLogLine(options, delivery, settled);
    if (!result.ok) wakeLater(endpointUuid, accountUuid, Math.max(restMs, settled.retryInMs ?? 0));
    return undefined;
  }

  /**
   * An endpoint whose secret cannot be opened: nothing is sent, and nothing is counted against it, since the fault is ours.
   * Its deliveries wait until the secret is mended or rotated; meanwhile its lane rests as if it had failed.
   */
  async function putOff(delivery: ClaimedDelivery, error: UnreadableSecret): Promise<undefined> {
    lanes.finished(delivery.endpoint_id, false);
    await postponeDelivery(db, delivery, unreadablePauseMs);
    onError(error, {
      webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, delivery.endpoint_id),
      delivery_id: idOfUuid(idPrefixes.delivery, delivery.id),
    });
  }

  const common = { pollMs: scanEveryMs, onError };
  const fast = startWorkQueue({
    ...common,
    claim: (count) => claim(chooseProven(count), provenShares),
    run: runWithin(provenShares),
    concurrency: places.proven,
  });
  const slow = startWorkQueue({
    ...common,
    claim: claimPaced,
    run: runWithin(unprovenShares),
    concurrency: places.unproven,
  });
  return {
    wake(accountUuid) {
      if (accountUuid === undefined) scannedAtMs = Number.NEGATIVE_INFINITY;
      else {
        accounts.add(accountUuid);
        // Who got something a moment ago is asked at once; the others are looked up first.
        for (const endpointUuid of lanes.busyOf(accountUuid)) wakeEndpoint(endpointUuid, accountUuid);
        fast.wake();
      }
      slow.wake();
    },
    async stop(patienceMs) {
      await Promise.all([fast.stop(patienceMs), slow.stop(patienceMs)]);
    },
  };
}
