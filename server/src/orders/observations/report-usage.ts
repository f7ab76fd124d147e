import {
  type InputFor,
  maxRejections,
  type RejectionReason,
  type UsageOutcome,
  type UsageRecord,
  type UsageRecordBatch,
} from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import type { LongWrite, Reply } from '../../accounts/write.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { countOutcomes } from './count-outcomes.ts';
import { refuseFuture } from './observed-at.ts';
import { type PassedOn, passOnUsage } from './pass-on.ts';
import { takeUsage } from './take-usage.ts';
import { keepRejected } from './usage-sql.ts';

type Input = InputFor<'reportUsage'>;

/**
 * Counts usage records from the network. In live, a key with the scope `network` may report for every account's eSIMs, also those in other
 * cells. In a sandbox any account may have such a key, and it reaches only that account.
 */
export const reportUsage: LongWrite<Context, Input, UsageRecordBatch> = {
  async beforeTransaction(ctx, { body: { records } }) {
    for (const [index, { at }] of records.entries()) refuseFuture(at, `records[${index}].at`, ctx.clock);
    const passedOn = await passOnUsage(ctx, records);
    return (tx) => count(tx, ctx, records, passedOn);
  },
};

/** Counts here what no other cell has: an account may have arrived meanwhile. */
async function count(
  tx: Queryable,
  ctx: Context,
  records: readonly UsageRecord[],
  passedOn: PassedOn,
): Promise<Reply<UsageRecordBatch>> {
  const ofAccount = ctx.mode === 'live' ? null : ctx.account.uuid;
  const left = records.filter((_, index) => !passedOn.outcomes.has(index));
  const taken = await takeUsage(tx, left, { ofAccount }, ctx);
  let next = 0;
  const outcomes = records.map(
    (_, index) =>
      passedOn.outcomes.get(index) ?? sureOf(taken.outcomes[next++] as UsageOutcome, passedOn.isSure),
  );
  const rejected = outcomes.flatMap((outcome, index) =>
    outcome === 'accepted' || outcome === 'duplicate' ? [] : [{ index, reason: outcome }],
  );
  await keep(tx, ctx, records, rejected);
  const counts = countOutcomes(outcomes);
  return {
    body: { object: 'usage_record_batch', ...counts, rejections: listOf(records, rejected) },
    changes: counts,
    afterCommit() {
      for (const accountUuid of taken.accountsWithEvents) ctx.signals.announce('deliveries', accountUuid);
    },
  };
}

/** A cell that did not answer may have the eSIM, so the sender has to repeat the record. */
function sureOf(outcome: UsageOutcome, isSure: boolean): UsageOutcome {
  return outcome === 'esim_unknown' && !isSure ? 'esim_not_ready' : outcome;
}

type Rejected = { index: number; reason: RejectionReason };

/**
 * Kept in the cell that was asked, whichever refused them. In a sandbox, where any account can report, only those that the response
 * lists are.
 */
async function keep(
  tx: Queryable,
  ctx: Context,
  records: readonly UsageRecord[],
  rejected: readonly Rejected[],
): Promise<void> {
  const kept = ctx.mode === 'live' ? rejected : rejected.slice(0, maxRejections);
  if (kept.length === 0) return;
  const at = new Date(ctx.clock.nowMs());
  const byId = new Map(
    kept.map(({ index, reason }) => {
      const record = records[index] as UsageRecord;
      return [`${record.iccid} ${record.record_id}`, { record, reason }];
    }),
  );
  const rows = [...byId.values()].map((rejection) => ({
    ...rejection,
    at,
    uuid: uuidText(ctx.newUuid()),
    accountUuid: ctx.account.uuid,
  }));
  await keepRejected(tx, rows);
}

function listOf(
  records: readonly UsageRecord[],
  rejected: readonly Rejected[],
): UsageRecordBatch['rejections'] {
  return rejected.slice(0, maxRejections).map(({ index, reason }) => {
    const { record_id, iccid } = records[index] as UsageRecord;
    return { index, record_id, iccid, reason };
  });
}
