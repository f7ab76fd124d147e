import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@simplane/contract';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { lowestUuidAt, unixMsOf } from '../../../platform/ids/uuid-range.ts';
import { type Keyring, UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../../../platform/worker/work-queue.ts';
import { readSubject } from '../delivery-signal.ts';
import { type AccountSlots, createAccountSlots } from './account-slots.ts';
import type { AttemptResult, Unsent } from './attempt.ts';
import { type DeliverOptions, disableIfDead, logAttempt, toSettled } from './deliver.ts';
import { createEndpointClaims } from './endpoint-claims.ts';
import { createFairQueue } from './fair-queue.ts';
import { createLanes, type Standing } from './lanes.ts';
import { resolveHost, send } from './send.ts';
import { createPromoter, createSettler } from './settler.ts';
import { createSigningKeys } from './signing-keys.ts';
import { type ClaimedDelivery, claimDeliveries, claimNamed, type Wanted } from './sql/claim-deliveries.ts';
import {
  endLeases,
  findEndpoints,
  findEndpointsDue,
  type KnownEndpoint,
  postponeDelivery,
} from './sql/leases.ts';
import { createUrgentDeliveries } from './urgent-deliveries.ts';

export { deleteStaleLeases, endAbandonedLeases } from './sql/leases.ts';

type Options = Omit<DeliverOptions, 'signingKeys'> & {
  keyring: Keyring;
  concurrency: number;
  /** How much longer a lease is than an attempt's timeout. It is renewed when half of this time has passed. */
  leaseMarginMs?: number;
  /** The clock for lease ages. */
  monotonicMs?: () => number;
  onError(error: unknown, about?: object): void;
};

/** With `deliveryUuids` only those are claimed. */
type Chosen = Omit<Wanted, 'afterUuid'> & { deliveryUuids?: string[] };

type UnprovenStanding = Exclude<Standing, 'proven'>;

export type Sender = Omit<WorkQueue, 'wake'> & {
  /** Takes the text of a `DeliverySignal`; without one, looks at all work. */
  wake(subject?: string): void;
};

// Slots for explicit retries, besides `concurrency`: one in this many.
const urgentDivisor = 16;
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
// Longer than the scan interval of other processes, so that one of them finds the endpoint first.
const avoidMs = 3_000;
const faultReportIntervalMs = 10_000;
// A woken account's deliveries are this new, unless another machine's clock is further behind; the scan finds those.
const wokenWithinMs = 10_000;

/**
 * Sends due deliveries of endpoints that it leases. The rows are the queue; this tracks which endpoints may have due rows and how
 * many each can take.
 */
export function startSender(given: Options): Sender {
  const { db, concurrency, leaseMarginMs = 10_000, onError, keyring } = given;
  const { monotonicMs = () => performance.now() } = given;
  const options = { ...given, signingKeys: createSigningKeys(keyring) };
  const lanes = createLanes();
  const settle = createSettler(db);
  const promoteNext = createPromoter(db);
  const claims = createEndpointClaims(monotonicMs, () => options.clock.nowMs());
  const holder = uuidText(options.newUuid());
  const leaseMs = options.timeoutMs + leaseMarginMs;
  const renewBelowMs = leaseMs - leaseMarginMs / 2;
  // Separate queues, so neither slots nor claims of working endpoints wait for endpoints that may hang.
  const provenReady = new Map<string, string>();
  const unprovenReady = { untried: createFairQueue(), failing: createFairQueue() };
  const slotCounts = { proven: Math.ceil(concurrency / 2), unproven: Math.floor(concurrency / 2) };
  // Both queues limit each account, because an account's proven endpoints can all start to hang too.
  const provenSlots = createAccountSlots(slotCounts.proven);
  const unprovenSlots = createAccountSlots(slotCounts.unproven);
  // The last quarter is for untried endpoints, so failing endpoints never block them, however many accounts have some.
  const reservedForUntried = Math.floor(slotCounts.unproven / 4);
  const urgentSlotCount = Math.ceil(concurrency / urgentDivisor);
  const urgentSlots = createAccountSlots(urgentSlotCount);
  const urgent = createUrgentDeliveries(urgentSlots, claims.mayClaim);
  const wokenAccounts = new Set<string>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let unprovenClaimedAtMs = Number.NEGATIVE_INFINITY;
  let faultReportedAtMs = Number.NEGATIVE_INFINITY;
  let isStopping = false;

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

  function wakeQueues(): void {
    provenQueue.wake();
    unprovenQueue.wake();
  }

  function wakeAccount(accountUuid: string): void {
    wokenAccounts.add(accountUuid);
    // Endpoints with recent deliveries are claimed immediately; the others are looked up first.
    for (const endpointUuid of lanes.busyOf(accountUuid)) {
      if (!claims.isRefused(endpointUuid)) wakeEndpoint(endpointUuid, accountUuid);
    }
    provenQueue.wake();
  }

  function wakeEnabled(accountUuid: string, endpointUuid: string): void {
    if (lanes.enabled(endpointUuid)) wakeEndpoint(endpointUuid, accountUuid);
  }

  function sendNow(accountUuid: string, endpointUuid: string, deliveryUuid: string): void {
    if (urgent.add({ accountUuid, endpointUuid, deliveryUuid })) urgentQueue.wake();
    else wakeEndpoint(endpointUuid, accountUuid);
  }

  function wakeLater(endpointUuid: string, accountUuid: string, delayMs: number): void {
    if (delayMs > maxTimerMs) return;
    const wake = () => {
      wakeEndpoint(endpointUuid, accountUuid);
      unprovenQueue.wake();
    };
    setTimeout(wake, delayMs).unref();
  }

  function addEndpoints(endpoints: KnownEndpoint[], sinceUuid: string | null): void {
    for (const { endpointUuid, accountUuid, standing } of endpoints) {
      lanes.learn(endpointUuid, standing);
      if (sinceUuid === null) claims.restart(endpointUuid);
      else claims.lookFrom(endpointUuid, sinceUuid);
      wakeEndpoint(endpointUuid, accountUuid);
    }
    if (provenReady.size > 0) provenQueue.wake();
  }

  async function findReadyEndpoints(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - scannedAtMs >= scanIntervalMs) {
      scannedAtMs = nowMs;
      lanes.forgetIdle();
      claims.forgetIdle();
      const { untried, failing } = unprovenReady;
      const before = [...untried.endpoints(), ...failing.endpoints()];
      const due = await findEndpointsDue(db, holder);
      // Drop endpoints with nothing due (deleted, disabled, sent by others), so they don't consume the rate limit.
      const stillDue = new Set(due.map(({ endpointUuid }) => endpointUuid));
      for (const endpointUuid of before) {
        if (stillDue.has(endpointUuid)) continue;
        untried.delete(endpointUuid);
        failing.delete(endpointUuid);
      }
      addEndpoints(due, null);
    }
    if (wokenAccounts.size === 0 || nowMs - lookedUpAtMs < lookUpIntervalMs) return;
    lookedUpAtMs = nowMs;
    const accountUuids = [...wokenAccounts];
    wokenAccounts.clear();
    const sinceUuid = lowestUuidAt(options.clock.nowMs() - wokenWithinMs);
    addEndpoints(await findEndpoints(db, { accountUuids, holder, sinceUuid }), sinceUuid);
  }

  /** Removes the chosen endpoints; `claim` appends those that may have more, which makes the order round-robin. */
  function chooseProven(count: number): Chosen[] {
    const wanted: Chosen[] = [];
    let left = isStopping ? 0 : count;
    for (const [endpointUuid, accountUuid] of provenReady) {
      if (left === 0) break;
      if (!claims.mayClaim(endpointUuid)) continue;
      const slots = Math.min(left, lanes.roomFor(endpointUuid), provenSlots.availableTo(accountUuid));
      if (slots === 0) continue;
      provenSlots.acquire(accountUuid, slots);
      wanted.push({ endpointUuid, accountUuid, slots });
      left -= slots;
      provenReady.delete(endpointUuid);
    }
    return wanted;
  }

  function takeUnproven(standing: UnprovenStanding): Chosen | null {
    const reserved = standing === 'untried' ? 0 : reservedForUntried;
    const next = unprovenReady[standing].take({
      mayTakeFor: (accountUuid) => unprovenSlots.availableTo(accountUuid, reserved) > 0,
      hasRoom: (endpointUuid) => lanes.roomFor(endpointUuid) > 0 && claims.mayClaim(endpointUuid),
    });
    return next && { ...next, slots: 1 };
  }

  /** Alternates between untried and failing endpoints, so neither waits for the other queue to empty. */
  function chooseUnproven(count: number): Chosen[] {
    const wanted: Chosen[] = [];
    while (wanted.length < count && !isStopping) {
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
  async function claim(chosen: Chosen[], accountSlots: AccountSlots): Promise<ClaimedDelivery[]> {
    if (chosen.length === 0) return [];
    const now = new Date(options.clock.nowMs());
    const claimedCounts = new Map<string, number>();
    const heldUuids: string[] = [];
    const wanted = chosen.map(({ endpointUuid, accountUuid, slots }) => {
      const position = claims.begin(endpointUuid);
      heldUuids.push(...position.heldUuids);
      return { endpointUuid, accountUuid, slots, afterUuid: position.afterUuid };
    });
    const sentAtMs = monotonicMs(); // the leases start slightly later
    try {
      const request = { wanted, heldUuids, holder, leaseMs, renewBelowMs, now };
      const deliveryUuids = chosen.flatMap((one) => one.deliveryUuids ?? []);
      const isNamed = deliveryUuids.length > 0;
      const claimed = await (isNamed ? claimNamed(db, request, deliveryUuids) : claimDeliveries(db, request));
      for (const delivery of claimed.deliveries) {
        const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
        claimedCounts.set(endpointUuid, (claimedCounts.get(endpointUuid) ?? 0) + 1);
        claims.hold(delivery);
        lanes.claimed(endpointUuid, accountUuid);
      }
      const leases = new Map(claimed.leases.map((lease) => [lease.endpointUuid, lease]));
      for (const { endpointUuid, slots, afterUuid } of wanted) {
        const lease = leases.get(endpointUuid) ?? null;
        claims.end(endpointUuid, { lease, sentAtMs, isFull: claimedCounts.get(endpointUuid) === slots });
        // Deliveries before the named ones were not taken.
        if (isNamed && lease) claims.lookFrom(endpointUuid, afterUuid);
      }
      return claimed.deliveries;
    } catch (error) {
      for (const { endpointUuid } of chosen) claims.abort(endpointUuid);
      throw error;
    } finally {
      for (const { endpointUuid, accountUuid, slots } of chosen) {
        const unused = slots - (claimedCounts.get(endpointUuid) ?? 0);
        if (unused > 0) accountSlots.release(accountUuid, unused);
        else wakeEndpoint(endpointUuid, accountUuid); // it may have more
        if (isReady(endpointUuid)) wakeQueues(); // it may have been woken during the claim
      }
      if (!urgent.isEmpty()) urgentQueue.wake();
    }
  }

  /** Claims for unproven endpoints within their rate limit. */
  async function claimUnproven(count: number): Promise<ClaimedDelivery[]> {
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
    return async (delivery: ClaimedDelivery, stopping: AbortSignal): Promise<RunResult> => {
      try {
        return await run(delivery, stopping, accountSlots === urgentSlots);
      } finally {
        accountSlots.release(delivery.account_id, 1);
      }
    };
  }

  /** Releases an unsent delivery whose endpoint is not to blame: records neither an attempt nor a failure. */
  function postpone(delivery: ClaimedDelivery, { unsent, isFault }: Unsent): void {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    lanes.postponed(endpointUuid, unsentPauseMs);
    claims.release(delivery);
    wakeLater(endpointUuid, accountUuid, unsentPauseMs);
    if (isFault) avoidEndpoint(endpointUuid);
    if (!isFault || performance.now() - faultReportedAtMs < faultReportIntervalMs) return;
    faultReportedAtMs = performance.now();
    onError(new Error(`webhooks cannot be sent: ${unsent}`));
  }

  /** The fault is in this process, so another process may be able to send to the endpoint. */
  function avoidEndpoint(endpointUuid: string): void {
    if (claims.avoid(endpointUuid, avoidMs)) endLeases(db, holder, [endpointUuid]).catch(onError);
  }

  async function run(
    delivery: ClaimedDelivery,
    stopping: AbortSignal,
    isUrgent: boolean,
  ): Promise<RunResult> {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    const slot = lanes.acquireSlot(endpointUuid, isUrgent);
    if (slot !== true && !(await slot)) {
      claims.release(delivery);
      return undefined;
    }
    const startedAtMs = options.clock.nowMs();
    let result: AttemptResult | Unsent;
    try {
      const lookup = resolveHost(options, delivery, stopping);
      const found = lookup instanceof Promise ? await lookup : lookup; // saves a promise per delivery
      if (!claims.isLeased(delivery, options.timeoutMs)) {
        lanes.released(endpointUuid);
        claims.release(delivery);
        wakeEndpoint(endpointUuid, accountUuid);
        return undefined;
      }
      result = 'addresses' in found ? await send(options, delivery, found.addresses, stopping) : found;
    } catch (error) {
      if (error instanceof UnreadableSecret) return postponeUnreadable(delivery, error);
      lanes.released(endpointUuid);
      releaseLater(delivery);
      throw error;
    }
    if ('unsent' in result) {
      postpone(delivery, result);
      return undefined;
    }
    if (stopping.aborted && !result.ok) {
      lanes.released(endpointUuid);
      claims.release(delivery);
      return undefined;
    }
    const pauseMs = lanes.finished(endpointUuid, result.ok);
    const mayHaveMore = isReady(endpointUuid);
    if (!result.ok || mayHaveMore) wakeEndpoint(endpointUuid, accountUuid);
    if (result.ok && mayHaveMore) provenQueue.wake();
    const settled = toSettled(options, delivery, result, startedAtMs);
    const health = await untilSettled(delivery, settle(settled));
    if (health && !result.ok) await disableIfDead(options, health);
    options.onAttempt(settled);
    logAttempt(options, delivery, settled, result);
    if (!result.ok) wakeLater(endpointUuid, accountUuid, Math.max(pauseMs, settled.retryInMs ?? 0));
    if (settled.outcome !== 'pending') await sendNext(delivery);
    return undefined;
  }

  /** Sends what waited for this delivery, at once: its id may be older than those claimed last. After an error, a chore does it. */
  async function sendNext({
    account_id: accountUuid,
    endpoint_id: endpointUuid,
    order_key: iccid,
  }: ClaimedDelivery) {
    if (iccid === null) return;
    const next = await promoteNext({ accountUuid, endpointUuid, iccid }).catch(onError);
    if (!next) return;
    claims.lookFrom(endpointUuid, lowestUuidAt(unixMsOf(next.deliveryUuid)));
    wakeEndpoint(endpointUuid, accountUuid);
    wakeQueues();
  }

  /** After an error it is unknown whether the result was stored, so the delivery is held for a lease's duration. */
  function releaseLater(delivery: ClaimedDelivery): void {
    setTimeout(() => claims.release(delivery), leaseMs).unref();
  }

  async function untilSettled<T>(delivery: ClaimedDelivery, settling: Promise<T>): Promise<T> {
    try {
      const result = await settling;
      claims.drop(delivery);
      return result;
    } catch (error) {
      releaseLater(delivery);
      throw error;
    }
  }

  /**
   * Postpones a delivery whose endpoint's secret cannot be opened. The fault is ours, so no failure is recorded. Deliveries wait
   * until the secret is repaired or rotated; meanwhile the lane pauses as after a failure.
   */
  async function postponeUnreadable(delivery: ClaimedDelivery, error: UnreadableSecret): Promise<undefined> {
    lanes.finished(delivery.endpoint_id, false);
    await untilSettled(delivery, postponeDelivery(db, delivery, unreadablePauseMs));
    avoidEndpoint(delivery.endpoint_id);
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
  const urgentQueue = startWorkQueue({
    ...common,
    claim: (count) => claim(isStopping ? [] : urgent.take(count), urgentSlots),
    run: runWithin(urgentSlots),
    concurrency: urgentSlotCount,
  });
  return {
    wake(subject) {
      const signal = subject === undefined ? null : readSubject(subject);
      if (!signal) scannedAtMs = Number.NEGATIVE_INFINITY;
      else if (signal.endpointUuid === undefined) wakeAccount(signal.accountUuid);
      else if (signal.deliveryUuid === undefined) wakeEnabled(signal.accountUuid, signal.endpointUuid);
      else sendNow(signal.accountUuid, signal.endpointUuid, signal.deliveryUuid);
      unprovenQueue.wake();
    },
    async stop(timeoutMs) {
      isStopping = true;
      const stopped = Promise.all(
        [provenQueue, unprovenQueue, urgentQueue].map((queue) => queue.stop(timeoutMs)),
      );
      // Endpoints with deliveries in flight keep their lease until those end. A lease that is not ended here expires.
      await endLeases(db, holder, claims.idleEndpoints()).catch(onError);
      await stopped;
      await endLeases(db, holder, claims.idleEndpoints()).catch(onError);
    },
  };
}
