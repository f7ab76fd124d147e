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
];
