import type { Batch, Execution } from '@simplane/contract';
import type { History } from '../history/history.ts';
import { bodyOf, writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** A batch is accepted whole or not at all: it has as many orders as its answer says, and each of them ends once. */
export function batchesAreWhole(history: History): Violation[] {
  if (history.losesCommits) return [];
  const accepted = writesOf(history)
    .filter(({ path, status }) => path === '/v1/batches' && status === 202)
    .map((write) => ({ ...write, batch: bodyOf<Batch>(write) }));
  const missing = accepted.flatMap(({ account, key, batch }) => {
    const { executions = [] } = history.end[account] ?? {};
    const orders = executions.filter((one) => one.batch_id === batch.id && one.retry_of === undefined);
    const open = orders.filter(({ status }) => status !== 'succeeded' && status !== 'failed');
    return [
      ...(orders.length === batch.total ? [] : [`has ${orders.length} orders instead of ${batch.total}`]),
      ...(open.length === 0 ? [] : [`has ${open.length} orders that have not ended`]),
    ].map((what) => ({ about: [batch.id, key], what: `an accepted batch ${what}` }));
  });
  const known = new Set(accepted.map(({ batch }) => batch.id));
  const orphans = history.end.flatMap(({ executions }) => executions.filter(isOrphan(known)));
  return [
    ...missing,
    ...orphans.map(({ id }) => ({ about: [id], what: 'an order belongs to a batch that was not accepted' })),
  ];
}

const isOrphan = (known: ReadonlySet<string>) => (one: Execution) =>
  one.batch_id !== undefined && !known.has(one.batch_id);

/** At every read, by whichever process: total = succeeded + failed + open. */
export function batchesAddUp({ sent }: History): Violation[] {
  const read = sent.flatMap(({ path, status, text }) => {
    if (!path.startsWith('/v1/batches') || status === null || status >= 300) return [];
    const body = JSON.parse(text) as Batch | { object: 'list'; data: Batch[] };
    return body.object === 'list' ? body.data : [body];
  });
  return read.flatMap(({ id, total, succeeded, failed, open }) =>
    succeeded + failed + open === total
      ? []
      : [{ about: [id], what: `a batch of ${total} has ${succeeded} + ${failed} + ${open} orders` }],
  );
}

/** The end of each batch is told once. */
export function batchesFinishOnce({ end }: History): Violation[] {
  return end.flatMap(({ batches, events }) =>
    batches.flatMap(({ id }) => {
      const told = events.filter(({ type, data }) => type === 'batch.finished' && data['batch_id'] === id);
      return told.length === 1 ? [] : [{ about: [id], what: `batch.finished was told ${told.length} times` }];
    }),
  );
}
