import type { History } from './history.ts';
import { writesOf } from './writes.ts';

const erasePath = /^\/v1\/esims\/(\d+)\/erase$/;

/** The eSIMs whose erasure was acknowledged, with the text that was stored of their users. */
export function erasedEsims(history: Pick<History, 'sent'>): { iccid: string; key: string; text: string }[] {
  const writes = writesOf(history as History);
  return writes.flatMap(({ account, key, path, status }) => {
    const iccid = erasePath.exec(path)?.[1];
    if (iccid === undefined || status !== 202) return [];
    const order = writes.find((one) => one.account === account && `${one.key}-erase` === key);
    const { description: text } = (order?.body ?? {}) as { description?: string };
    return text === undefined ? [] : [{ iccid, key, text }];
  });
}

/** Whether an event may have other bytes than a reader saw before: its eSIM was erased meanwhile. */
export function mayBeErased(history: Pick<History, 'sent'>): (body: string) => boolean {
  const iccids = new Set(erasedEsims(history).map(({ iccid }) => iccid));
  return (body) => iccids.has((JSON.parse(body) as { data: { iccid?: string } }).data.iccid ?? '');
}
