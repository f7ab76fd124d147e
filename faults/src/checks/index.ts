import { answersAreExpected } from './answers-are-expected.ts';
import { batchesAddUp, batchesAreWhole, batchesFinishOnce } from './batches-are-whole.ts';
import { changesAreTold } from './changes-are-told.ts';
import { coreConverges, eachThresholdOnce, oneBodyPerVersion, versionNeverFalls } from './core-converges.ts';
import { deliveriesAreSigned } from './deliveries-are-signed.ts';
import { endedCredentialsAreRefused } from './ended-credentials-are-refused.ts';
import { endpointsHaveOneSender } from './endpoints-have-one-sender.ts';
import { erasedValuesAreGone } from './erased-values-are-gone.ts';
import { eventsAreDelivered } from './events-are-delivered.ts';
import { feedIsGapFree } from './feed-is-gap-free.ts';
import { itemsAreInOnePlace } from './items-are-in-one-place.ts';
import { keysRunOnce } from './keys-run-once.ts';
import { logMatchesDeliveries } from './log-matches-deliveries.ts';
import { nothingCrossesAccounts } from './nothing-crosses-accounts.ts';
import { nothingIsStuck } from './nothing-is-stuck.ts';
import { operatorFeedIsWhole } from './operator-feed-is-whole.ts';
import { orderedDeliveriesStartInOrder } from './ordered-deliveries-start-in-order.ts';
import { ordersAreInOnePlace } from './orders-are-in-one-place.ts';
import { ordersEndOnce } from './orders-end-once.ts';
import { ordersReachTheNetworkOnce } from './orders-reach-the-network-once.ts';
import { processesSurvive } from './processes-survive.ts';
import { unknownOutcomesAreSettled } from './unknown-outcomes-are-settled.ts';
import { noByteOnAForeignBundle, usageAddsUp } from './usage-adds-up.ts';
import { usageIsCountedOnce } from './usage-is-counted-once.ts';
import type { Check } from './violation.ts';
import { walksAreComplete } from './walks-are-complete.ts';
import { writesAreAudited } from './writes-are-audited.ts';

/** Every guarantee and the check for it. */
export const checks = {
  'orders-end-once': ordersEndOnce,
  'orders-are-in-one-place': ordersAreInOnePlace,
  'batches-are-whole': batchesAreWhole,
  'batches-add-up': batchesAddUp,
  'batches-finish-once': batchesFinishOnce,
  'orders-reach-the-network-once': ordersReachTheNetworkOnce,
  'unknown-outcomes-are-settled': unknownOutcomesAreSettled,
  'changes-are-told': changesAreTold,
  'events-are-delivered': eventsAreDelivered,
  'items-are-in-one-place': itemsAreInOnePlace,
  'endpoints-have-one-sender': endpointsHaveOneSender,
  'ordered-deliveries-start-in-order': orderedDeliveriesStartInOrder,
  'deliveries-are-signed': deliveriesAreSigned,
  'log-matches-deliveries': logMatchesDeliveries,
  'feed-is-gap-free': feedIsGapFree,
  'operator-feed-is-whole': operatorFeedIsWhole,
  'nothing-crosses-accounts': nothingCrossesAccounts,
  'keys-run-once': keysRunOnce,
  'writes-are-audited': writesAreAudited,
  'ended-credentials-are-refused': endedCredentialsAreRefused,
  'erased-values-are-gone': erasedValuesAreGone,
  'usage-is-counted-once': usageIsCountedOnce,
  'usage-adds-up': usageAddsUp,
  'no-byte-on-a-foreign-bundle': noByteOnAForeignBundle,
  'each-threshold-once': eachThresholdOnce,
  'core-converges': coreConverges,
  'one-body-per-version': oneBodyPerVersion,
  'version-never-falls': versionNeverFalls,
  'walks-are-complete': walksAreComplete,
  'nothing-is-stuck': nothingIsStuck,
  'answers-are-expected': answersAreExpected,
  'processes-survive': processesSurvive,
} satisfies Record<string, Check>;

export type CheckName = keyof typeof checks;
