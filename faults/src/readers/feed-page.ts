import type { EventFeed } from '@simplane/contract';
import { sendOnce } from '../clients/send.ts';
import type { FeedReader, SeenEvent } from '../history/history.ts';
import { isAnswer } from '../history/is-answer.ts';
import type { RunContext } from '../run-context.ts';

type Page =
  | { kind: 'events'; events: SeenEvent[]; cursor: string; isLast: boolean }
  | { kind: 'refusal'; text: string }
  | { kind: 'none' };

type Request = { account: number; query: string; at: number; signal: AbortSignal };

/** One request to the feed. `none`: no answer, or one that asks to try again. */
export async function readPage(ctx: RunContext, { account, query, at, signal }: Request): Promise<Page> {
  const request = { account, path: `/v1/events/feed?${query}`, at, signal };
  const sent = await sendOnce(ctx, request, ctx.answerTimeoutMs);
  if (!sent || !isAnswer(sent)) return { kind: 'none' };
  if (sent.status !== 200) return { kind: 'refusal', text: `${sent.status} ${sent.text.slice(0, 300)}` };
  const { data, cursor, caught_up: isLast } = JSON.parse(sent.text) as EventFeed;
  const events = data.map((event) => seenEvent(event.id, bytesOf(event, sent.text)));
  return { kind: 'events', events, cursor, isLast };
}

export function seenEvent(id: string, body: string): SeenEvent {
  return { id, body, atMs: Date.now(), isAcknowledged: false };
}

export function noteRefusal({ refusals }: FeedReader, text: string): void {
  refusals.push({ atMs: Date.now(), text });
}

/** The event as it stands in the page; another text if the page has other bytes than its parsed form. */
function bytesOf(event: object, page: string): string {
  const body = JSON.stringify(event);
  return page.includes(body) ? body : `(not found in) ${page.slice(0, 500)}`;
}
