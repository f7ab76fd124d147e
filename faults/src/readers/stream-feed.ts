import { setTimeout as sleep } from 'node:timers/promises';
import { eventIdOf } from '../history/event-id.ts';
import { noteRefusal, seenEvent } from './feed-page.ts';
import { readFrames } from './read-frames.ts';
import type { Reading } from './reading.ts';

const retryDelayMs = 50;
// A frozen process sends nothing; a reader that has waited this long tries another one.
const idleMs = 2_500;

/** Follows the feed by server-sent events, and resumes at another process whenever a stream ends or is silent. */
export async function streamFeed(reading: Reading): Promise<void> {
  const { ctx, random, signal } = reading;
  let cursor: string | null = null;
  for (let at = 0; !signal.aborted; at++) {
    const { apis } = ctx.deployment;
    const url = apis[at % apis.length]?.url();
    if (url) cursor = await readStream(reading, `${url}/v1/events/feed`, cursor, 1 + random.below(60));
    if (!signal.aborted) await sleep(retryDelayMs);
  }
}

/** Reads one stream until it ends, is silent, or has shown `most` events. Returns the place that it reached. */
async function readStream(
  { ctx, reader, random, signal }: Reading,
  address: string,
  from: string | null,
  most: number,
): Promise<string | null> {
  let cursor = from;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), idleMs);
  // A browser repeats the address and adds the header; a program may send the cursor itself.
  const isLikeBrowser = random.chance(0.5);
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${ctx.deployment.keys[reader.account]}`,
    ...(cursor !== null && isLikeBrowser && { 'last-event-id': cursor }),
  };
  const after = cursor === null || isLikeBrowser ? 'start' : cursor;
  try {
    const response = await fetch(`${address}?after=${after}`, {
      headers,
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status !== 200 || !response.body) {
      const text = await response.text();
      if (response.status < 500 && response.status !== 408 && response.status !== 421)
        noteRefusal(reader, `${response.status} ${text}`);
      return cursor;
    }
    let count = 0;
    for await (const frame of readFrames(response.body, () => timer.refresh())) {
      if (frame.data !== null) {
        reader.seen.push(seenEvent(eventIdOf(frame.data), frame.data));
        count += 1;
      }
      cursor = frame.id ?? cursor;
      if (count >= most) break;
    }
  } catch {
    // Cut, silent, refused or stopped: the next stream goes on at `cursor`.
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
  return cursor;
}
