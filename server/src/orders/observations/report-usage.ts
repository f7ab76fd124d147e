import {
  type InputOf,
  maxRejections,
  type Operations,
  type RejectionReason,
  type UsageRecord,
  type UsageRecordBatch,
} from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { refuseFuture } from './observed-at.ts';
import { takeUsage } from './take-usage.ts';
import { keepRejected } from './usage-sql.ts';

/**
 * Counts usage records from the network. In live, a key with the scope `network` may report for every account's eSIMs. In a
 * sandbox any account may have such a key, and it reaches only that account.
 */
export async function reportUsage(tx: Queryable, ctx: Context, { body }: InputOf<Operations['reportUsage']>) {
  const ofAccount = ctx.mode === 'live' ? null : ctx.account.uuid;
  for (const [index, { at }] of body.records.entries()) refuseFuture(at, `records[${index}].at`, ctx.clock);
  const taken = await takeUsage(tx, body.records, { ofAccount }, ctx);
  await keep(tx, ctx, body.records, taken);
  const batch = summarise(body.records, taken);
  const { accepted, duplicates, rejected } = batch;
  return {
    body: batch,
    changes: { accepted, duplicates, rejected },
    afterCommit() {
      for (const accountUuid of taken.accountsWithEvents) ctx.signals.announce('deliveries', accountUuid);
    },
  };
}

/** In a sandbox, where any account can report, only those that the response lists are kept. */
async function keep(
  tx: Queryable,
  ctx: Context,
  records: readonly UsageRecord[],
  { rejected }: Taken,
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

type Record = { record_id: string; iccid: string };
type Taken = { accepted: number; rejected: readonly { index: number; reason: RejectionReason }[] };

function summarise(records: readonly Record[], { accepted, rejected }: Taken): UsageRecordBatch {
  return {
    object: 'usage_record_batch',
    accepted,
    duplicates: records.length - accepted - rejected.length,
    rejected: rejected.length,
    rejections: rejected.slice(0, maxRejections).map(({ index, reason }) => {
      const { record_id, iccid } = records[index] as Record;
      return { index, record_id, iccid, reason };
    }),
  };
}
