import { type Mutant, webhooks } from './mutant.ts';

const undelivered = 'server/src/notify/webhooks/undelivered';
const sql = `${undelivered}/sql.ts`;
const endpoints = 'server/src/notify/webhooks/endpoints';
const recoveries = 'server/src/notify/webhooks/recoveries';
const stats = 'server/src/notify/webhooks/stats';
const guards = [webhooks('undelivered-guards')];

/** What an endpoint has missed, and what is told and counted of endpoints. */
export const missedEventMutants: readonly Mutant[] = [
  {
    name: 'searched-part-of-a-gap-kept',
    file: `${undelivered}/gaps.ts`,
    find: 'if (sinceMs === null) await shortenGap(tx, key, until);',
    replace: 'void shortenGap;',
    tests: guards,
    why: 'A recovery up to a time within a gap leaves only the rest of it.',
  },
  {
    name: 'newest-missed-events-counted',
    file: sql,
    find: "order: 'asc'",
    replace: "order: 'desc'",
    tests: [webhooks('undelivered')],
    why: 'Of more missed events than are counted, the oldest are.',
  },
];
