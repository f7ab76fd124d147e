import { api, type Mutant } from './mutant.ts';

const views = 'server/src/views';
const counting = `${views}/overview/sql/counting.ts`;
const reading = `${views}/overview/sql/reading.ts`;
const networks = `${views}/processes/list-networks.ts`;
const guards = [api('overview-guards')];
const lookups = `${views}/lookups/sql.ts`;
const references = [api('references')];

/** Views: what is counted for the overview, and what look-ups show. */
export const countingMutants: readonly Mutant[] = [
  {
    name: 'counting-begins-before-what-the-feed-has',
    file: counting,
    find: '  greatest(counted.position, head.expired_through) as position',
    replace: '  counted.position',
    tests: guards,
    why: 'Counting goes on after what the feed has removed.',
  },
  {
    name: 'account-without-events-claimed-for-counting',
    file: counting,
    find: 'where head.last_position > greatest(counted.position, head.expired_through)',
    replace: 'where head.last_position > counted.position',
    tests: guards,
    why: 'An account of which the feed has removed everything is not claimed.',
  },
  {
    name: 'progress-of-an-open-order-lost',
    file: counting,
    find: "  union all\n  select id, created_at, null\n  from execution_queue\n  where account_id = given.account_id and iccid = given.iccid and type = 'esim.provision'\n",
    replace: '',
    tests: guards,
    why: 'The progress of an eSIM counts also while its order is open.',
  },
  {
    name: 'progress-counts-for-a-suspension',
    file: counting,
    find: "iccid = given.iccid and type = 'esim.provision'\n",
    replace: 'iccid = given.iccid\n',
    tests: guards,
    why: 'The progress of an eSIM counts for its order, and for no other execution.',
  },
  {
    name: 'stopping-process-counts-on',
    file: `${views}/overview/count-events.ts`,
    find: 'while (isFull && !stopping?.aborted)',
    replace: 'while (isFull && stopping !== null)',
    tests: guards,
    why: 'A stopping process counts no further batch.',
  },
  {
    name: 'open-orders-counted-without-end',
    file: reading,
    find: `    from execution_queue\n    limit \${maxCounted}`,
    replace: '    from execution_queue',
    tests: guards,
    why: 'The overview of all accounts stops counting open orders at 10,000.',
  },
  {
    name: 'pending-deliveries-counted-without-end',
    file: reading,
    find: `    (select from blocked_deliveries limit \${maxCounted})\n    limit \${maxCounted}`,
    replace: '    (select from blocked_deliveries)',
    tests: guards,
    why: 'The overview of all accounts stops counting pending deliveries at 10,000.',
  },
  {
    name: 'request-with-the-next-status-listed',
    file: `${views}/request-log/sql.ts`,
    find: `>= $5 and \${column} <= $6 \${condition}`,
    replace: `>= $5 \${condition}`,
    tests: [api('request-log')],
    why: 'A filter by a status or error that never occurred finds nothing.',
  },
  {
    name: 'oldest-open-orders-of-a-reference-found',
    file: lookups,
    find: `from execution_queue where \${isReferred} order by id desc`,
    replace: `from execution_queue where \${isReferred} order by id`,
    tests: references,
    why: 'Of the open orders with a reference, a search finds the newest.',
  },
  {
    name: 'oldest-esims-with-a-value-found',
    file: lookups,
    find: '  order by esim_id desc\n',
    replace: '  order by esim_id\n',
    tests: references,
    why: 'Of the eSIMs with a value in their metadata, a search finds the newest.',
  },
  {
    name: 'oldest-open-orders-with-a-value-found',
    file: lookups,
    find: `    order by id desc\n    limit \${openLookedAt}`,
    replace: `    order by id\n    limit \${openLookedAt}`,
    tests: references,
    why: 'Of the open orders, a search looks at the metadata of the newest.',
  },
  {
    name: 'running-order-found-as-queued',
    file: lookups,
    find: "const openAbout = `id, null as iccid, type || ', ' || case when attempts = 0 then",
    replace: "const openAbout = `id, null as iccid, type || ', ' || case when attempts >= 0 then",
    tests: references,
    why: 'A search tells an order that has begun from one that waits.',
  },
  {
    name: 'running-execution-found-as-queued',
    file: lookups,
    find: "    `type || ', ' || case when attempts = 0 then",
    replace: "    `type || ', ' || case when attempts >= 0 then",
    tests: references,
    why: 'A search by id tells an execution that has begun from one that waits.',
  },
];
