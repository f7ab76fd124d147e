import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../ids/uuid.ts';
import { type Keyring, UnreadableSecret } from '../../secrets/keyring.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../../worker/work-queue.ts';
import { type AccountSlots, createAccountSlots } from './account-slots.ts';
import type { AttemptResult, Unsent } from './attempt.ts';
import { type DeliverOptions, disableIfDead, logAttempt, resolveHost, send, toSettled } from './deliver.ts';
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
  /** How much a lease outlasts an attempt's timeout. An attempt must start within this margin to end within its lease. */
  leaseMarginMs?: number;
  /** The clock for lease ages. */
  monotonicMs?: () => number;
  onError(error: unknown, about?: object): void;
};

/** `claimedAtMs` is taken before the claim query, so the lease started slightly later. */
type TimedClaim = { delivery: ClaimedDelivery; claimedAtMs: number };

type UnprovenStanding = Exclude<Standing, 'proven'>;

export type Sender = Omit<WorkQueue, 'wake'> & { wake(accountUuid?: string): void };

// Fallback scan. Costs 30 ms with 1,000 backlogs, so it runs rarely.
const scanIntervalMs = 2_000;
// Rate limit: unproven endpoints share 40 attempts a second. With 1,000 new endpoints and no limit, a healthy endpoint's p99 was
// 20 to 120 times its p99 alone; at 80 a second 1.8 and 2.3 times, at 40 a second 1.7 and 1.7 (two runs each).
const unprovenClaimIntervalMs = 50;
const unprovenPerClaim = 2;
const lookUpIntervalMs = 200;
// Retries due within this time get a timer; the scan finds later ones.
const maxTimerMs = 10_000;
// Retry interval for a delivery whose endpoint's secret cannot be opened.
const unreadablePauseMs = 60_000;
// The pause when sending is impossible and the endpoint is not to blame; such conditions are usually brief.
const unsentPauseMs = 1_000;
const faultReportIntervalMs = 10_000;

/** Sends due deliveries. The rows are the queue; this tracks which endpoints may have due rows and how many each can take. */
export function startSender(given: Options): Sender {
  const { db, concurrency, leaseMarginMs = 10_000, onError, keyring } = given;
  const { monotonicMs = () => performance.now() } = given;
  const options = { ...given, signingKeys: createSigningKeys(keyring) };
  const lanes = createLanes();
  const settle = createSettler(db);
  const release = createReleaser(db);
  // Separate queues, so neither slots nor claims of working endpoints wait for endpoints that may hang.
  const provenReady = new Map<string, string>();
  const unprovenReady = { untried: createFairQueue(), failing: createFairQueue() };
  const slotCounts = { proven: Math.ceil(concurrency / 2), unproven: Math.floor(concurrency / 2) };
  // Both queues limit each account, because an account's proven endpoints can all start to hang too.
  const provenSlots = createAccountSlots(slotCounts.proven);
  const unprovenSlots = createAccountSlots(slotCounts.unproven);
  // The last quarter is for untried endpoints, so failing endpoints never block them, however many accounts have some.
  const reservedForUntried = Math.floor(slotCounts.unproven / 4);
  const wokenAccounts = new Set<string>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let unprovenClaimedAtMs = Number.NEGATIVE_INFINITY;
  let faultReportedAtMs = Number.NEGATIVE_INFINITY;

  function wakeEndpoint(endpointUuid: string, accountUuid: string): void {
    const standing = lanes.standingOf(endpointUuid);
    if (standing !== 'proven') provenReady.delete(endpointUuid);
    if (standing !== 'untried') unprovenReady.untried.delete(endpointUuid);
    if (standing !== 'failing') unprovenReady.failing.delete(endpointUuid);
    if (standing !== 'proven') unprovenReady[standing].add({ endpointUuid, accountUuid });
    else if (!provenReady.has(endpointUuid)) provenReady.set(endpointUuid, accountUuid);
  }

  function isReady(endpointUuid: string): boolean {
    const { untried, failing } = unprovenReady;
    return provenReady.has(endpointUuid) || untried.has(endpointUuid) || failing.has(endpointUuid);
  }

  function wakeLater(endpointUuid: string, accountUuid: string, delayMs: number): void {
    if (delayMs > maxTimerMs) return;
    const wake = () => {
      wakeEndpoint(endpointUuid, accountUuid);
      unprovenQueue.wake();
    };
    setTimeout(wake, delayMs).unref();
  }

  function addEndpoints(endpoints: KnownEndpoint[]): void {
    for (const { endpointUuid, accountUuid, standing } of endpoints) {
      lanes.learn(endpointUuid, standing);
      wakeEndpoint(endpointUuid, accountUuid);
    }
    if (provenReady.size > 0) provenQueue.wake();
  }

  async function findReadyEndpoints(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - scannedAtMs >= scanIntervalMs) {
      scannedAtMs = nowMs;
      lanes.forgetIdle();
      const { untried, failing } = unprovenReady;
      const before = [...untried.endpoints(), ...failing.endpoints()];
      const due = await findEndpointsDue(db);
      // Drop endpoints with nothing due (deleted, disabled, sent by others), so they don't consume the rate limit.
      const stillDue = new Set(due.map(({ endpointUuid }) => endpointUuid));
      for (const endpointUuid of before) {
        if (stillDue.has(endpointUuid)) continue;
        untried.delete(endpointUuid);
        failing.delete(endpointUuid);
      }
      addEndpoints(due);
    }
    if (wokenAccounts.size === 0 || nowMs - lookedUpAtMs < lookUpIntervalMs) return;
    lookedUpAtMs = nowMs;
    const accountUuids = [...wokenAccounts];
    wokenAccounts.clear();
    addEndpoints(await findEndpoints(db, accountUuids));
  }

  /** Removes the chosen endpoints; `claim` appends those that may have more, which makes the order round-robin. */
  function chooseProven(count: number): Wanted[] {
    const wanted: Wanted[] = [];
    let left = count;
    for (const [endpointUuid, accountUuid] of provenReady) {
      if (left === 0) break;
      const slots = Math.min(left, lanes.roomFor(endpointUuid), provenSlots.availableTo(accountUuid));
      if (slots === 0) continue;
      provenSlots.acquire(accountUuid, slots);
      wanted.push({ endpointUuid, accountUuid, slots });
      left -= slots;
      provenReady.delete(endpointUuid);
    }
    return wanted;
  }

  function takeUnproven(standing: UnprovenStanding): Wanted | null {
    const reserved = standing === 'untried' ? 0 : reservedForUntried;
    const next = unprovenReady[standing].take({
      mayTakeFor: (accountUuid) => unprovenSlots.availableTo(accountUuid, reserved) > 0,
      hasRoom: (endpointUuid) => lanes.roomFor(endpointUuid) > 0,
    });
    return next && { ...next, slots: 1 };
  }

  /** Alternates between untried and failing endpoints, so neither waits for the other queue to empty. */
  function chooseUnproven(count: number): Wanted[] {
    const wanted: Wanted[] = [];
    while (wanted.length < count) {
      const isUntriedNext = wanted.length % 2 === 0;
      const next =
        takeUnproven(isUntriedNext ? 'untried' : 'failing') ??
        takeUnproven(isUntriedNext ? 'failing' : 'untried');
      if (!next) break;
      unprovenSlots.acquire(next.accountUuid, next.slots);
      wanted.push(next);
    }
    return wanted;
  }

  /** Slots acquired for deliveries that turn out not to exist are released. */
  async function claim(wanted: Wanted[], accountSlots: AccountSlots): Promise<TimedClaim[]> {
    if (wanted.length === 0) return [];
    const now = new Date(options.clock.nowMs());
    const claimedAtMs = monotonicMs();
    const claimedCounts = new Map<string, number>();
    try {
      const deliveries = await claimDeliveries(db, wanted, options.timeoutMs + leaseMarginMs, now);
      for (const { endpoint_id: id, account_id: accountUuid } of deliveries) {
        claimedCounts.set(id, (claimedCounts.get(id) ?? 0) + 1);
        lanes.claimed(id, accountUuid);
      }
      return deliveries.map((delivery) => ({ delivery, claimedAtMs }));
    } finally {
      for (const { endpointUuid, accountUuid, slots } of wanted) {
        const unused = slots - (claimedCounts.get(endpointUuid) ?? 0);
        if (unused > 0) accountSlots.release(accountUuid, unused);
        else wakeEndpoint(endpointUuid, accountUuid); // it may have more
      }
    }
  }

  /** Claims for unproven endpoints within their rate limit. */
  async function claimUnproven(count: number): Promise<TimedClaim[]> {
    await sleep(Math.max(0, unprovenClaimedAtMs + unprovenClaimIntervalMs - performance.now()));
    unprovenClaimedAtMs = performance.now();
    await findReadyEndpoints();
    const wanted = chooseUnproven(Math.min(count, unprovenPerClaim));
    try {
      return await claim(wanted, unprovenSlots);
    } finally {
      // Terminates, because endpoints with nothing due have left the queue.
      if (wanted.length > 0) unprovenQueue.wake();
      else if (wokenAccounts.size > 0) setTimeout(unprovenQueue.wake, lookUpIntervalMs).unref();
    }
  }

  function runWithin(accountSlots: AccountSlots) {
    return async (claimed: TimedClaim, stopping: AbortSignal): Promise<RunResult> => {
      try {
        return await run(claimed, stopping);
      } finally {
        accountSlots.release(claimed.delivery.account_id, 1);
      }
    };
  }

  /** Releases an unsent delivery whose endpoint is not to blame: records neither an attempt nor a failure. */
  async function postpone(delivery: ClaimedDelivery, { unsent, isFault }: Unsent): Promise<void> {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    lanes.postponed(endpointUuid, unsentPauseMs);
    await release(delivery);
    wakeLater(endpointUuid, accountUuid, unsentPauseMs);
    if (!isFault || performance.now() - faultReportedAtMs < faultReportIntervalMs) return;
    faultReportedAtMs = performance.now();
    onError(new Error(`webhooks cannot be sent: ${unsent}`));
  }

  async function run({ delivery, claimedAtMs }: TimedClaim, stopping: AbortSignal): Promise<RunResult> {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    const slot = lanes.acquireSlot(endpointUuid);
    if (slot !== true && !(await slot)) {
      await release(delivery);
      return undefined;
    }
    let result: AttemptResult | Unsent;
    try {
      const lookup = resolveHost(options, delivery, stopping);
      const found = lookup instanceof Promise ? await lookup : lookup; // saves a promise per delivery
      if (monotonicMs() - claimedAtMs >= leaseMarginMs) {
        lanes.released(endpointUuid);
        await release(delivery);
        wakeEndpoint(endpointUuid, accountUuid);
        return undefined;
      }
      result = 'addresses' in found ? await send(options, delivery, found.addresses, stopping) : found;
    } catch (error) {
      if (error instanceof UnreadableSecret) return postponeUnreadable(delivery, error);
      lanes.released(endpointUuid);
      throw error;
    }
    if ('unsent' in result) {
      await postpone(delivery, result);
      return undefined;
    }
    if (stopping.aborted && !result.ok) {
      lanes.released(endpointUuid);
      await release(delivery);
      return undefined;
    }
    const pauseMs = lanes.finished(endpointUuid, result.ok);
    const mayHaveMore = isReady(endpointUuid);
    if (!result.ok || mayHaveMore) wakeEndpoint(endpointUuid, accountUuid);
    if (result.ok && mayHaveMore) provenQueue.wake();
    const settled = toSettled(options, delivery, result);
    const health = await settle(settled);
    if (health && !result.ok) await disableIfDead(options, health, result);
    options.onAttempt(settled);
    logAttempt(options, delivery, settled);
    if (!result.ok) wakeLater(endpointUuid, accountUuid, Math.max(pauseMs, settled.retryInMs ?? 0));
    return undefined;
  }

  /**
   * Postpones a delivery whose endpoint's secret cannot be opened. The fault is ours, so no failure is recorded. Deliveries wait
   * until the secret is repaired or rotated; meanwhile the lane pauses as after a failure.
   */
  async function postponeUnreadable(delivery: ClaimedDelivery, error: UnreadableSecret): Promise<undefined> {
    lanes.finished(delivery.endpoint_id, false);
    await postponeDelivery(db, delivery, unreadablePauseMs);
    onError(error, {
      webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, delivery.endpoint_id),
      delivery_id: idOfUuid(idPrefixes.delivery, delivery.id),
    });
  }

  const common = { pollMs: scanIntervalMs, onError };
  const provenQueue = startWorkQueue({
    ...common,
    claim: (count) => claim(chooseProven(count), provenSlots),
    run: runWithin(provenSlots),
    concurrency: slotCounts.proven,
  });
  const unprovenQueue = startWorkQueue({
    ...common,
    claim: claimUnproven,
    run: runWithin(unprovenSlots),
    concurrency: slotCounts.unproven,
  });
  return {
    wake(accountUuid) {
      if (accountUuid === undefined) scannedAtMs = Number.NEGATIVE_INFINITY;
      else {
        wokenAccounts.add(accountUuid);
        // Endpoints with recent deliveries are claimed immediately; the others are looked up first.
        for (const endpointUuid of lanes.busyOf(accountUuid)) wakeEndpoint(endpointUuid, accountUuid);
        provenQueue.wake();
      }
      unprovenQueue.wake();
    },
    async stop(timeoutMs) {
      await Promise.all([provenQueue.stop(timeoutMs), unprovenQueue.stop(timeoutMs)]);
    },
  };
}
