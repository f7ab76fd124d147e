import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../db/uuid.ts';
import { type Keyring, UnreadableSecret } from '../../keyring.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../../worker/work-queue.ts';
import type { AttemptResult, Unsent } from './attempt.ts';
import { type DeliverOptions, findAddresses, judge, sendOnce, toSettled, writeLogLine } from './deliver.ts';
import { createLanes } from './lanes.ts';
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

type Options = Omit<DeliverOptions, 'signingKeys'> & {
  keyring: Keyring;
  concurrency: number;
  /** A lease is this much longer than an attempt may take: one that begins within it ends before another sender may take it. */
  leaseMarginMs?: number;
  onError(error: unknown, about?: object): void;
};

/** A delivery, and when it was asked for: its lease began a little later. */
type Held = { delivery: ClaimedDelivery; claimedAtMs: number };

export type Sender = Omit<WorkQueue, 'wake'> & { wake(accountUuid?: string): void };

// The net: it costs 30 ms with a thousand backlogs, so it is not asked more often than it must.
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
  const options = { ...given, signingKeys: createSigningKeys(keyring) };
  const lanes = createLanes();
  const settle = createSettler(db);
  const giveBack = createReleaser(db);
  // Two queues, so that neither the places nor the claims of endpoints that work wait for those that may not.
  const proven = { awake: new Map<string, string>(), concurrency: Math.ceil(concurrency / 2) };
  const unproven = { awake: new Map<string, string>(), concurrency: Math.floor(concurrency / 2) };
  const accounts = new Set<string>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let pacedAtMs = Number.NEGATIVE_INFINITY;
  let faultReportedAtMs = Number.NEGATIVE_INFINITY;

  function wakeEndpoint(endpointUuid: string, accountUuid: string): void {
    const [its, other] = lanes.isProven(endpointUuid) ? [proven, unproven] : [unproven, proven];
    other.awake.delete(endpointUuid);
    if (!its.awake.has(endpointUuid)) its.awake.set(endpointUuid, accountUuid);
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
    for (const { endpointUuid, accountUuid, isProven } of places) {
      lanes.learn(endpointUuid, isProven);
      wakeEndpoint(endpointUuid, accountUuid);
    }
    if (proven.awake.size > 0) fast.wake();
  }

  async function lookAround(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - scannedAtMs >= scanEveryMs) {
      scannedAtMs = nowMs;
      lanes.forgetIdle();
      const before = [...unproven.awake.keys()];
      const due = await findEndpointsDue(db);
      // Who has nothing any more (deleted, disabled, sent by others) must not use up the pace.
      const stillDue = new Set(due.map(({ endpointUuid }) => endpointUuid));
      for (const endpointUuid of before) if (!stillDue.has(endpointUuid)) unproven.awake.delete(endpointUuid);
      found(due);
    }
    if (accounts.size === 0 || nowMs - lookedUpAtMs < lookUpEveryMs) return;
    lookedUpAtMs = nowMs;
    const named = [...accounts];
    accounts.clear();
    found(await findEndpoints(db, named));
  }

  function choose(awake: Map<string, string>, count: number): Wanted[] {
    const wanted: Wanted[] = [];
    let left = count;
    for (const [endpointUuid, accountUuid] of awake) {
      if (left === 0) break;
      const slots = Math.min(left, lanes.roomFor(endpointUuid));
      if (slots === 0) continue;
      wanted.push({ endpointUuid, accountUuid, slots });
      left -= slots;
    }
    return wanted;
  }

  async function claim(awake: Map<string, string>, count: number): Promise<Held[]> {
    const wanted = choose(awake, count);
    if (wanted.length === 0) return [];
    // Off the list until it is known whether there is more, and then at its end: with more endpoints than places, each gets
    // its turn. An announcement that comes meanwhile puts it back.
    for (const { endpointUuid } of wanted) awake.delete(endpointUuid);
    const now = new Date(options.clock.nowMs());
    const claimedAtMs = performance.now();
    const deliveries = await claimDeliveries(db, wanted, options.timeoutMs + leaseMarginMs, now);
    const got = new Map<string, number>();
    for (const { endpoint_id: id, account_id: accountUuid } of deliveries) {
      got.set(id, (got.get(id) ?? 0) + 1);
      lanes.claimed(id, accountUuid);
    }
    for (const { endpointUuid, accountUuid, slots } of wanted) {
      if (got.get(endpointUuid) === slots) wakeEndpoint(endpointUuid, accountUuid);
    }
    return deliveries.map((delivery) => ({ delivery, claimedAtMs }));
  }

  /** A few at a time, with a pause: the work that a thousand newcomers make at once is spread out. */
  async function claimPaced(count: number): Promise<Held[]> {
    await sleep(Math.max(0, pacedAtMs + paceMs - performance.now()));
    pacedAtMs = performance.now();
    await lookAround();
    const most = Math.min(count, unprovenAtOnce);
    const deliveries = await claim(unproven.awake, most);
    if (deliveries.length === most) slow.wake();
    else if (accounts.size > 0) setTimeout(slow.wake, lookUpEveryMs).unref();
    return deliveries;
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

  async function run({ delivery, claimedAtMs }: Held, stopping: AbortSignal): Promise<RunResult> {
    const { endpoint_id: endpointUuid, account_id: accountUuid } = delivery;
    const turn = lanes.turn(endpointUuid);
    if (turn !== true && !(await turn)) {
      await giveBack(delivery);
      return undefined;
    }
    let result: AttemptResult | Unsent;
    try {
      const found = await findAddresses(options, delivery, stopping);
      if (performance.now() - claimedAtMs >= leaseMarginMs) {
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
    const mayHaveMore = proven.awake.has(endpointUuid) || unproven.awake.has(endpointUuid);
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

  const common = { run, pollMs: scanEveryMs, onError };
  const fast = startWorkQueue({
    ...common,
    claim: (count) => claim(proven.awake, count),
    concurrency: proven.concurrency,
  });
  const slow = startWorkQueue({ ...common, claim: claimPaced, concurrency: unproven.concurrency });
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
