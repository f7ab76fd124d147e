import { eventIdOf } from '../history/event-id.ts';
import type { AccountEnd, History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** No account can read or receive anything of another account. */
export function nothingCrossesAccounts(history: History): Violation[] {
  const owners = ownersOf(history);
  return [
    ...listsAreOwn(history, owners),
    ...deliveriesAreOwn(history),
    ...othersAreMissing(history, owners),
  ];
}

/** The owner of an id is the first account that got it in an answer or a delivery. */
function ownersOf({ sent, receipts }: History): Map<string, number> {
  const owners = new Map<string, number>();
  const setOwner = (id: string | undefined, account: number) => {
    if (id !== undefined && !owners.has(id)) owners.set(id, account);
  };
  for (const { account, key, status, text } of sent) {
    if (key === null || status === null || status >= 300) continue;
    setOwner(/"id":"((?:exec|we|evt)_\w+)"/.exec(text)?.[1], account);
  }
  for (const { account, body } of receipts) setOwner(eventIdOf(body) || undefined, account);
  return owners;
}

function idsOf({ executions, events, endpoints }: AccountEnd): string[] {
  return [...executions, ...events, ...endpoints].map(({ id }) => id);
}

function listsAreOwn({ end, walks }: History, owners: Map<string, number>): Violation[] {
  const shown = [
    ...end.flatMap((one, account) => idsOf(one).map((id) => ({ id, account }))),
    ...walks.flatMap(({ ids, account }) => ids.map((id) => ({ id, account }))),
  ];
  const foreign = shown.filter(({ id, account }) => (owners.get(id) ?? account) !== account);
  return [...new Set(foreign.map(({ id }) => id))].map((id) => ({
    about: [id],
    what: `a list of account ${2 - (owners.get(id) ?? 0)} shows a resource of account ${(owners.get(id) ?? 0) + 1}`,
  }));
}

function deliveriesAreOwn({ receipts, end }: History): Violation[] {
  const logs = end.map(({ events }) => new Set(events.map(({ id }) => id)));
  return receipts.flatMap(({ account, body, hook }) => {
    const id = eventIdOf(body);
    const isOwn = logs[account]?.has(id) ?? false;
    const isForeign = logs.some((log, other) => other !== account && log.has(id));
    return isForeign && !isOwn ? [{ about: [id, hook], what: "an account received another's event" }] : [];
  });
}

/** Reading another account's resource returns 404. */
function othersAreMissing({ sent, end }: History, owners: Map<string, number>): Violation[] {
  const esims = new Map(
    end.flatMap(({ esims: owned }, account) => owned.map(({ iccid }) => [iccid, account] as const)),
  );
  return sent.flatMap(({ account, method, path, status }) => {
    const [, id] = /^\/v1\/(?:executions|esims|events|webhook_endpoints)\/(\w+)$/.exec(path) ?? [];
    if (method !== 'GET' || !id || status === null || status === 404 || status >= 500) return [];
    const owner = owners.get(id) ?? esims.get(id) ?? account;
    return owner === account
      ? []
      : [{ about: [id], what: `an account read another account's resource and got ${status}` }];
  });
}
