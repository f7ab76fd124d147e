import type { Keyring } from '../../../platform/secrets/keyring.ts';
import { startWorkQueue, type WorkQueue } from '../../../platform/worker/work-queue.ts';
import type { Committed } from '../../events/hand-over.ts';
import { readSubject } from '../signal.ts';
import { createClaimer } from './claimer.ts';
import { createDueEndpoints, scanIntervalMs } from './due-endpoints.ts';
import { createEndpointClaims } from './endpoint-claims.ts';
import { createLanes } from './lanes.ts';
import type { Parts } from './parts.ts';
import { createPostpone } from './postpone.ts';
import { createReadyEndpoints, createSlots, type QueueName, type Wake } from './ready-endpoints.ts';
import { createResultRecorder, type ResultOptions } from './record-result.ts';
import { createDeliveryRunner } from './run-delivery.ts';
import type { SendOptions } from './send.ts';
import { createSigningKeys } from './sign.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';
import { endLeases } from './sql/leases.ts';
import { createCommittedTaker } from './take-committed.ts';

export { deleteStaleLeases, endAbandonedLeases } from './sql/leases.ts';

type Options = Omit<SendOptions, 'signingKeys'> &
  ResultOptions &
  Pick<Parts, 'db' | 'holder' | 'isFresh' | 'onError'> & {
    keyring: Keyring;
    concurrency: number;
    /** How much longer a lease is than an attempt's timeout. It is renewed when half of this time has passed. */
    leaseMarginMs?: number;
    /** The clock for lease ages. */
    monotonicMs?: () => number;
  };

export type Sender = Omit<WorkQueue, 'wake' | 'reserve'> & {
  /** Takes the text of a `DeliverySignal`; without one, looks at all work. */
  wake(subject?: string): void;
  /** Takes deliveries of an event that was just committed. False if some are left for a claim. */
  take(committed: Committed): boolean;
  /** Its leases may soon end: cuts off what is being sent, and sends again only with new ones. */
  interrupt(): void;
};

/**
 * Sends due deliveries of endpoints that it leases. The rows are the queue; this tracks which endpoints may have due rows and how
 * many each can take. A signal or a scan makes an endpoint ready; when its turn comes, as many of its deliveries are claimed as it
 * can take; each is sent once, and its result recorded.
 */
export function startSender(options: Options): Sender {
  const {
    db,
    clock,
    holder,
    leaseMarginMs = 10_000,
    monotonicMs = () => performance.now(),
    onError,
  } = options;
  const leaseMs = options.timeoutMs + leaseMarginMs;
  const slots = createSlots(options.concurrency);
  const lanes = createLanes();
  const claims = createEndpointClaims(monotonicMs, () => clock.nowMs());
  const wake: Wake = {
    proven: () => queues.proven.wake(),
    unproven: () => queues.unproven.wake(),
    urgent: () => queues.urgent.wake(),
  };
  const ready = createReadyEndpoints({ slots, lanes, claims, wake });
  const signingKeys = createSigningKeys(options.keyring);
  const shared = { ...options, signingKeys, monotonicMs, leaseMs, slots, lanes, claims, wake, ready };
  const due = createDueEndpoints(shared);
  const claim = createClaimer({ ...shared, due, renewBelowMs: leaseMs - leaseMarginMs / 2 });
  const recordResult = createResultRecorder(shared);
  const runDelivery = createDeliveryRunner({ ...shared, recordResult, postpone: createPostpone(shared) });
  const queues = { proven: start('proven'), unproven: start('unproven'), urgent: start('urgent') };

  const take = createCommittedTaker({ ...shared, reserve: () => queues.proven.reserve() });

  function start(queue: QueueName): WorkQueue<ClaimedDelivery> {
    return startWorkQueue<ClaimedDelivery>({
      concurrency: slots[queue].total,
      pollMs: scanIntervalMs,
      onError,
      claim: claim[queue],
      async run(delivery, stopping) {
        try {
          await runDelivery(delivery, stopping, queue === 'urgent');
        } finally {
          slots[queue].release(delivery.account_id, 1);
        }
        return undefined;
      },
    });
  }

  return {
    take,
    wake(subject) {
      const { accountUuid, endpointUuid, deliveryUuid } = subject === undefined ? {} : readSubject(subject);
      if (accountUuid === undefined) due.scanNext();
      else if (endpointUuid === undefined) due.wakeAccount(accountUuid);
      else if (deliveryUuid !== undefined) ready.addUrgent({ accountUuid, endpointUuid, deliveryUuid });
      else if (lanes.enabled(endpointUuid)) ready.add(endpointUuid, accountUuid);
      wake.unproven();
    },
    interrupt() {
      claims.forgetLeases();
      for (const queue of Object.values(queues)) queue.interrupt();
    },
    async stop(timeoutMs) {
      ready.close();
      const stopped = Promise.all(Object.values(queues).map((queue) => queue.stop(timeoutMs)));
      // Endpoints with deliveries in flight keep their lease until those end. A lease that is not ended here expires.
      await endLeases(db, holder, claims.idleEndpoints()).catch(onError);
      await stopped;
      await endLeases(db, holder, claims.idleEndpoints()).catch(onError);
    },
  };
}
