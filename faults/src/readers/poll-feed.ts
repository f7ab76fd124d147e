import { setTimeout as sleep } from 'node:timers/promises';
import { noteRefusal, readPage } from './feed-page.ts';
import type { Reading } from './reading.ts';

const retryDelayMs = 50;

/** Follows the feed by requests that wait, each at another process, with the last cursor that arrived. */
export async function pollFeed({ ctx, reader, random, signal }: Reading): Promise<void> {
  let after = 'start';
  for (let at = 0; !signal.aborted; at++) {
    const query = `after=${after}&limit=${1 + random.below(40)}&wait=${random.below(2)}`;
    const page = await readPage(ctx, { account: reader.account, query, at, signal });
    if (page.kind === 'events') {
      reader.seen.push(...page.events);
      after = page.cursor;
    } else if (page.kind === 'refusal') noteRefusal(reader, page.text);
    if (page.kind !== 'events' || page.events.length === 0) await sleep(retryDelayMs);
  }
}
