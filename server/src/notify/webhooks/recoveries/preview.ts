import { idPrefixes, previewLimit, type RecoveryPreview } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import type { EndpointRow } from '../endpoints/get.ts';
import { addUp, readUndelivered } from '../undelivered/read.ts';
import { candidatesOf } from './run-recoveries.ts';
import { findMissed, readEvents } from './sql.ts';

// A batch takes 10 to 20 ms. No transaction spans them, so a preview never holds a connection for long.
const batchSize = 1_000;
const maxSearched = 50_000;

type Wanted = { untilEvent: string; types: string[] | null };

/** Counts by type what a recovery of everything undelivered would queue now, the oldest events first. */
export async function previewUndelivered(
  ctx: Context,
  { id: uuid }: EndpointRow,
  { untilEvent, types }: Wanted,
): Promise<RecoveryPreview> {
  const { counts, ...found } = await readUndelivered(ctx, uuid, { untilEvent, types: types ?? undefined });
  return {
    object: 'recovery_preview',
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, uuid),
    since: found.oldest ?? unixSeconds(ctx.clock.nowMs()),
    event_count: found.count,
    types: addUp(counts),
    capped: found.isCapped,
  };
}

/** Counts by type what a recovery would queue now, newest events first. Writes nothing. */
export async function previewRecovery(
  ctx: Context,
  { id: uuid, enabled_event_types: subscriptions }: EndpointRow,
  { sinceSeconds, untilEvent, types }: Wanted & { sinceSeconds: number },
): Promise<RecoveryPreview> {
  const range = {
    account_id: ctx.account.uuid,
    endpoint_id: uuid,
    from_event: lowestUuidAt(sinceSeconds * 1_000),
    position: untilEvent,
    ordering: 'none' as const, // the ICCIDs are not needed
  };
  const counts = new Map<string, number>();
  let [searched, found, isCapped, isFinished] = [0, 0, false, false];
  while (!isFinished && !isCapped) {
    const events = await readEvents(ctx.db, range, batchSize);
    const candidates = candidatesOf(events, { endpointUuid: uuid, subscriptions, types });
    const missed = await findMissed(
      ctx.db,
      range,
      candidates.map(({ id }) => id),
    );
    for (const { id, type } of candidates) {
      if (!missed.has(id) || found === previewLimit) continue;
      found += 1;
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    searched += events.length;
    isFinished = events.length < batchSize;
    isCapped = found === previewLimit || (!isFinished && searched >= maxSearched);
    range.position = events.at(-1)?.id ?? range.from_event;
  }
  return {
    object: 'recovery_preview',
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, uuid),
    since: sinceSeconds,
    event_count: found,
    types: [...counts].map(([type, count]) => ({ type, count })).sort((a, b) => b.count - a.count),
    capped: isCapped,
  };
}
