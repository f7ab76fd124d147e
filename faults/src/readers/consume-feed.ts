import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../clients/send.ts';
import { noteRefusal, readPage } from './feed-page.ts';
import type { Reading } from './reading.ts';

const retryDelayMs = 50;
const path = '/v1/event_consumers/follower';

/**
 * Follows the feed as a consumer that remembers nothing itself. Now and then it dies after it has handled events and before it has
 * acknowledged them, so they come again.
 */
export async function consumeFeed({ ctx, reader, random, signal }: Reading): Promise<void> {
  const { account } = reader;
  await send(ctx, { account, method: 'PUT', path, body: { after: 'start' } });
  for (let at = 0; !signal.aborted; at++) {
    const query = `consumer=follower&limit=${1 + random.below(40)}&wait=${random.below(2)}`;
    const page = await readPage(ctx, { account, query, at, signal });
    if (page.kind === 'refusal') noteRefusal(reader, page.text);
    if (page.kind !== 'events' || page.events.length === 0) {
      await sleep(retryDelayMs);
      continue;
    }
    reader.seen.push(...page.events);
    if (random.chance(0.2)) continue;
    const body = { cursor: page.cursor };
    // Repeated until it is answered: a place that is acknowledged twice is no conflict.
    const ack = await send(ctx, { account, method: 'POST', path: `${path}/ack`, body, at: random.below(2) });
    if (ack.status === 200) for (const event of page.events) event.isAcknowledged = true;
    else noteRefusal(reader, `${ack.status} ${ack.text.slice(0, 300)}`);
  }
}
