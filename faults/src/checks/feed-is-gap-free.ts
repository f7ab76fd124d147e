import { mayBeErased } from '../history/erased.ts';
import type { FeedReader, History, SeenEvent } from '../history/history.ts';
import type { Violation } from './violation.ts';

/**
 * Every reader that followed the feed from `start` saw every event of its account, once, with the bytes of the list, and all
 * readers saw them in one order. No reader was told that its place is gone, unless commits were lost.
 */
export function feedIsGapFree(history: History): Violation[] {
  const { feedReaders, end, losesCommits } = history;
  if (losesCommits) return [];
  const isErased = mayBeErased(history);
  return end.flatMap(({ events }, account) => {
    const logged = new Map(events.map((event) => [event.id, JSON.stringify(event)]));
    const readers = feedReaders.filter((reader) => reader.account === account);
    return [
      ...readers.flatMap((reader) => [
        ...noneRefused(reader),
        ...noneMissing(reader, logged),
        ...noneTwice(reader, history),
        ...sameBytes(reader, logged, isErased),
      ]),
      ...oneOrder(readers),
    ];
  });
}

function noneRefused({ kind, account, refusals }: FeedReader): Violation[] {
  const [first] = refusals;
  if (!first) return [];
  return [
    {
      about: [],
      what: `the ${kind} reader of account ${account + 1} was refused ${refusals.length} times: ${first.text}`,
    },
  ];
}

function noneMissing({ kind, account, seen }: FeedReader, logged: Map<string, string>): Violation[] {
  const ids = new Set(seen.map(({ id }) => id));
  const missing = [...logged.keys()].filter((id) => !ids.has(id));
  if (missing.length === 0) return [];
  return [
    {
      about: missing,
      what: `the ${kind} reader of account ${account + 1} never saw ${missing.length} events`,
    },
  ];
}

/** A consumer sees events again if it did not acknowledge them, or if an old primary still answers. */
function noneTwice({ kind, account, seen }: FeedReader, { staleReads }: History): Violation[] {
  const before = new Map<string, SeenEvent>();
  const twice: string[] = [];
  for (const event of seen) {
    const earlier = before.get(event.id);
    const isStale = staleReads.some(({ fromMs, toMs }) => fromMs <= event.atMs && event.atMs <= toMs);
    const mayRepeat = kind === 'consumer' && (!earlier?.isAcknowledged || isStale);
    if (earlier && !mayRepeat) twice.push(event.id);
    if (!earlier?.isAcknowledged) before.set(event.id, event);
  }
  if (twice.length === 0) return [];
  return [
    { about: twice, what: `the ${kind} reader of account ${account + 1} saw ${twice.length} events again` },
  ];
}

function sameBytes(
  { kind, seen }: FeedReader,
  logged: Map<string, string>,
  isErased: (body: string) => boolean,
): Violation[] {
  return seen.flatMap(({ id, body }) => {
    if (!logged.has(id))
      return [{ about: [id], what: `the ${kind} reader saw an event that is not in the log` }];
    return logged.get(id) === body || isErased(body)
      ? []
      : [{ about: [id], what: `the ${kind} reader saw other bytes than the log has: ${body.slice(0, 300)}` }];
  });
}

function oneOrder(readers: FeedReader[]): Violation[] {
  const [first, ...others] = readers.map((reader) => ({ ...reader, ids: idsOf(reader) }));
  if (!first) return [];
  return others.flatMap(({ kind, account, ids }) => {
    // Missing events are reported by themselves.
    const [mine, its] = [new Set(ids), new Set(first.ids)];
    const expected = first.ids.filter((id) => mine.has(id));
    const shown = ids.filter((id) => its.has(id));
    const at = shown.findIndex((id, index) => id !== expected[index]);
    if (at === -1) return [];
    return [
      {
        about: [shown[at] ?? '', expected[at] ?? ''],
        what: `the ${kind} and the ${first.kind} reader of account ${account + 1} saw different orders`,
      },
    ];
  });
}

/** In the order of first sight. */
function idsOf({ seen }: FeedReader): string[] {
  return [...new Set(seen.map(({ id }) => id))];
}
