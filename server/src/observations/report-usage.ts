import {
  type InputOf,
  maxRejections,
  type Operations,
  type RejectionReason,
  type UsageRecordBatch,
} from '@simplane/contract';
import type { WriteContext } from '../context.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { takeUsage } from './take-usage.ts';

/**
 * Counts what the network has measured. In live the scope `network` speaks for the one network that carries the eSIMs
 * of every account; in a sandbox keys with that scope are everybody's, and reach their own account only.
 */
export async function reportUsage(
  ctx: WriteContext,
  { body }: InputOf<Operations['reportUsage']>,
): Promise<Outcome> {
  const ofAccount = ctx.mode === 'live' ? null : ctx.account.uuid;
  let accountsWithEvents: ReadonlySet<string> = new Set();
  const outcome = await runOnce(ctx, async (tx) => {
    // A core's clock that runs ahead would start bundles in the future and silence all reports until then.
    const taken = await takeUsage(tx, body.records, { ofAccount, clampsToNow: true }, ctx);
    accountsWithEvents = taken.accountsWithEvents;
    return ctx.render(summarise(body.records, taken));
  });
  for (const accountUuid of accountsWithEvents) ctx.signals.announce('deliveries', accountUuid);
  return outcome;
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
