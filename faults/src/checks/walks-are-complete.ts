import { eventIdOf } from '../history/event-id.ts';
import type { History, ListName, Walk } from '../history/history.ts';
import { writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** A walk through a list shows every item that existed at its start, once, whatever is written meanwhile. */
export function walksAreComplete(history: History): Violation[] {
  const known = knownOf(history);
  return history.walks.flatMap((walk) => [
    ...noneTwice(walk),
    ...(mayBeStale(history, walk) ? [] : noneMissing(walk, known)),
  ]);
}

function noneTwice({ ids, list }: Walk): Violation[] {
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  return twice.length > 0 ? [{ about: twice, what: `a walk through ${list} showed an item twice` }] : [];
}

/** A replaced primary that still answers shows old data. */
function mayBeStale({ staleReads }: History, { startedMs, endedMs }: Walk): boolean {
  return staleReads.some(({ fromMs, toMs }) => fromMs <= endedMs && startedMs <= toMs);
}

type Known = { id: string; account: number; list: ListName; sinceMs: number };

function noneMissing({ account, list, ids, startedMs }: Walk, known: Known[]): Violation[] {
  const shown = new Set(ids);
  const missing = known.filter(
    (one) => one.list === list && one.account === account && one.sinceMs < startedMs && !shown.has(one.id),
  );
  if (missing.length === 0) return [];
  return [{ about: missing.map(({ id }) => id), what: `a walk through ${list} missed ${missing.length}` }];
}

/** Items that exist at the end, with the earliest time at which a client is known to have seen each. */
function knownOf(history: History): Known[] {
  const existing = history.end.map(
    ({ executions, esims, events, endpoints }) =>
      new Set([
        ...[...executions, ...events, ...endpoints].map(({ id }) => id),
        ...esims.map(({ iccid }) => iccid),
      ]),
  );
  const known: Known[] = [];
  const add = (id: string | undefined, account: number, list: ListName, sinceMs: number) => {
    if (id && existing[account]?.has(id)) known.push({ id, account, list, sinceMs });
  };
  for (const { account, path, status, text, toMs } of writesOf(history)) {
    if (status === null || status >= 300) continue;
    const { id, object } = JSON.parse(text) as { id?: string; object: string };
    if (object === 'execution') add(id, account, 'executions', toMs);
    if (path === '/v1/webhook_endpoints') add(id, account, 'webhook_endpoints', toMs);
    if (path === '/v1/events/test') add(id, account, 'events', toMs);
  }
  for (const { account, body, atMs } of history.receipts) add(eventIdOf(body), account, 'events', atMs);
  for (const { account, path, sentMs } of history.sent) {
    const [, iccid] = /^\/v1\/(?:sandbox\/)?esims\/(\d+)/.exec(path) ?? [];
    add(iccid, account, 'esims', sentMs);
  }
  return known;
}
