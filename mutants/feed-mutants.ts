import type { Mutant } from './mutant.ts';

const feed = (name: string) => `server/test/feed/${name}.test.ts`;

/** Places in the event feed: nobody misses an event, and nobody reads on from a place that is gone. */
export const feedMutants: Mutant[] = [
  {
    name: 'end-looked-up-after-the-time',
    file: 'server/src/notify/feed/find-place.ts',
    find: '  if (head.since === null) return { place: endOf(head), head };\n',
    replace: `  if (head.since === null) {
    const now = await locatePosition(db, account.uuid, 0);
    return { place: endOf(now), head: now };
  }
`,
    tests: [feed('places')],
    why: 'An event that gets its position while a reader begins at a time is not skipped.',
  },
  {
    name: 'place-before-removed-events',
    file: 'server/src/notify/feed/find-place.ts',
    find: 'if (head.since - 1 <= head.expiredThrough) return',
    replace: 'if (head.since - 1 < 1) return',
    tests: [feed('places')],
    why: 'A time before the oldest event begins at the oldest.',
  },
  {
    name: 'first-event-since-skipped',
    file: 'server/src/notify/feed/find-place.ts',
    find: '{ position: head.since - 1, mark: head.markAt ?? 0 }',
    replace: '{ position: head.since, mark: head.markAt ?? 0 }',
    tests: [feed('places')],
    why: 'The first event of a time is read.',
  },
  {
    name: 'place-of-another-history',
    file: 'server/src/notify/feed/find-place.ts',
    find: 'return isWithin(located, place) && mark === place.mark;',
    replace: 'return isWithin(located, place) && mark !== undefined;',
    tests: [feed('restore')],
    why: 'A cursor from before a restore is refused, also if its position exists again.',
  },
  {
    name: 'place-before-what-is-kept',
    file: 'server/src/notify/feed/find-place.ts',
    find: 'if (position < head.expiredThrough || ',
    replace: 'if (',
    tests: [feed('places')],
    why: 'A cursor before removed events is refused: there is a gap after it.',
  },
  {
    name: 'old-primary-expires-places',
    file: 'server/src/notify/feed/sql/read.ts',
    find: '\\nfor key share`;',
    replace: '`;',
    tests: ['server/test/faults/switchover.test.ts'],
    why: 'A process that is still connected to the old primary does not take new places for expired ones.',
  },
  {
    name: 'page-looks-the-end-up-again',
    file: 'server/src/notify/feed/read-feed.ts',
    find: 'reading.head ?? (await',
    replace: '(await',
    tests: [feed('places')],
    why: 'A page by cursor takes two statements.',
  },
  {
    name: 'waiting-reader-keeps-the-first-end',
    file: 'server/src/notify/feed/read-feed.ts',
    find: '{ ...rest, after: page.place }',
    replace: '{ ...reading, after: page.place }',
    tests: [feed('feed')],
    why: 'A reader that waits sees what comes.',
  },
  {
    name: 'gap-in-a-page-unnoticed',
    file: 'server/src/notify/feed/read-page.ts',
    find: ' || position !== after.position + events.length + 1) return null',
    replace: ') return null',
    tests: [feed('places')],
    why: 'A page has each position after its place, or is refused.',
  },
  {
    name: 'consumer-moves-back',
    file: 'server/src/notify/feed/consumers/sql.ts',
    find: ' and position <= $3',
    replace: '',
    tests: [feed('consumers')],
    why: 'Acknowledging never moves a consumer back.',
  },
  {
    name: 'deployment-locked-first',
    file: 'server/src/notify/feed/sql/positions.ts',
    find: 'const headOrder = `account_id = ',
    replace: 'const headOrder = `account_id, account_id = ',
    tests: [feed('operator-feed')],
    why: 'Expiry and sequencer lock the deployment’s feed last, so they cannot deadlock.',
  },
  {
    name: 'event-gone-from-deployment-feed',
    file: 'server/src/background/retention/rules.ts',
    find: 'keptFromUuid: lower(plan.keptFromUuid, kept)',
    replace: 'keptFromUuid: lower(plan.keptFromUuid, kept && null)',
    tests: ['server/test/api/retention.test.ts'],
    why: 'An event that the deployment’s feed still promises is not deleted.',
  },
  {
    name: 'deployment-feed-never-expires',
    file: 'server/src/background/retention/rules.ts',
    find: '{ accountUuid: deployment.uuid, count }',
    replace: '{ accountUuid: deployment.uuid, count: count - count }',
    tests: ['server/test/api/retention.test.ts'],
    why: 'The deployment’s feed expires with the accounts’, or nothing would be deleted any more.',
  },
  {
    name: 'overview-counts-the-deployment-too',
    file: 'server/src/views/overview/sql/counting.ts',
    find: "where account_id <> '",
    replace: "where account_id::text <> 'x",
    tests: [feed('operator-feed')],
    why: 'Events of accounts are not read again as the deployment’s.',
  },
  {
    name: 'deployment-not-locked',
    file: 'server/src/accounts/lock-account.ts',
    find: 'accountUuid === deployment.uuid ? lockDeployment(db) :',
    replace: 'accountUuid === deployment.name ? lockDeployment(db) :',
    tests: [feed('operator-consumers')],
    why: 'Two operators cannot take the last place under the deployment’s limit.',
  },
];
