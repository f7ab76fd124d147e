import type { Mutant } from './mutant.ts';

const feed = 'server/src/notify/feed';
const hub = `${feed}/hub.ts`;
const positions = `${feed}/sql/positions.ts`;
const expiry = ['server/test/feed/expire.test.ts'];
const places = ['server/test/feed/places.test.ts'];
const consumers = ['server/test/feed/consumers.test.ts'];

/** Readers of the feed that wait, what they read, and how events get their positions. */
export const feedGuardMutants: readonly Mutant[] = [
  {
    name: 'last-written-gets-its-position-first',
    file: positions,
    find: '  order by id\n  limit $2',
    replace: '  order by id desc\n  limit $2',
    tests: expiry,
    why: 'A pass takes what was written first.',
  },
  {
    name: 'run-told-newer-than-it-is',
    file: positions,
    find: '(array_agg(one.event_id order by one.event_id))[1]',
    replace: '(array_agg(one.event_id order by one.event_id desc))[1]',
    tests: expiry,
    why: 'A run knows its oldest event, which must be kept with it.',
  },
  {
    name: 'run-told-older-than-it-is',
    file: positions,
    find: 'order by one.event_id desc))[1]',
    replace: 'order by one.event_id))[1]',
    tests: expiry,
    why: 'A run knows its newest event, by which the events since a time are found.',
  },
  {
    name: 'pass-locks-the-deployment-first',
    file: positions,
    find: `  order by \${headOrder}\n  on conflict`,
    replace: '  order by account_id\n  on conflict',
    tests: expiry,
    why: 'A pass and an expiry lock feeds in the same order.',
  },
  {
    name: 'ordered-endpoint-of-another-account-hurries',
    file: positions,
    find: 'endpoint.account_id = runs.account_id and ',
    replace: '',
    tests: expiry,
    why: 'A pass hurries for ordered deliveries only if its own events may have some.',
  },
  {
    name: 'feed-goes-back-beside-another-process',
    file: positions,
    find: '    for no key update) head',
    replace: '    ) head',
    tests: expiry,
    why: 'Of two expiries at once, the one that reaches less far changes nothing.',
  },
  {
    name: 'consumer-takes-room-from-itself',
    file: `${feed}/consumers/sql.ts`,
    find: ' and name <> $2',
    replace: '',
    tests: consumers,
    why: 'The last consumer that there is room for can be created twice at once.',
  },
  {
    name: 'consumer-ahead-of-its-feed',
    file: `${feed}/consumers/sql.ts`,
    find: 'greatest(0, (select',
    replace: 'greatest(-9, (select',
    tests: consumers,
    why: 'A consumer is never behind by less than nothing.',
  },
  {
    name: 'missing-consumer-judged-by-its-cursor',
    file: `${feed}/consumers/acknowledge.ts`,
    find: '  await findConsumer(feed, name);\n  const { place }',
    replace: '  const { place }',
    tests: consumers,
    why: 'An acknowledgement of a missing consumer says so, whatever its cursor.',
  },
  {
    name: 'acknowledged-place-without-its-mark',
    file: `${feed}/consumers/sql.ts`,
    find: 'set position = $3, mark = $4\nwhere account_id = $1 and name = $2 and position',
    replace:
      'set position = $3\nwhere account_id = $1 and name = $2 and $4::integer is not null and position',
    tests: consumers,
    why: 'An acknowledged place has the mark of its cursor.',
  },
  {
    name: 'sought-place-without-its-mark',
    file: `${feed}/consumers/sql.ts`,
    find: 'set position = $3, mark = $4\nwhere account_id = $1 and name = $2`',
    replace: 'set position = $3\nwhere account_id = $1 and name = $2 and $4::integer is not null`',
    tests: consumers,
    why: 'A place that was sought has the mark of its cursor.',
  },
];
