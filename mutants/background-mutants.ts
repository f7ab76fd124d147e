import { api, type Mutant, webhooks } from './mutant.ts';

const chores = 'server/src/background/chores.ts';
const chore = (name: string, line: string, why: string): Mutant => ({
  name: `chore-left-out-${name}`,
  file: chores,
  find: line,
  replace: 'run: async () => {}',
  tests: [api('chores')],
  why,
});

const [beat, dead, waiting, sender] = [
  'server/src/background/worker-beat.ts',
  'server/src/background/release-dead.ts',
  'server/src/background/waiting.ts',
  'server/src/notify/webhooks/sender',
];

/** Of the leases that last while their worker beats. */
const beatMutants: Mutant[] = [
  {
    name: 'beat-counts-from-its-answer',
    ...{ file: beat, find: 'beatAtMs = sentAtMs;', replace: 'beatAtMs = monotonicMs();' },
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'A worker never believes in its lease for longer than the others do.',
  },
  {
    name: 'late-beat-not-noticed',
    ...{ file: beat, find: '        onLost();\n', replace: '' },
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'A worker that was frozen ends what it had begun.',
  },
  {
    name: 'stopped-beat-not-noticed',
    ...{ file: beat, find: 'setTimeout(onLost,', replace: 'setTimeout(() => {},' },
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'A worker that lost PostgreSQL ends what it had begun before its heir begins.',
  },
  {
    name: 'judge-after-an-outage',
    ...{ file: beat, find: 'waiting.deadWorkers && mayJudge', replace: 'waiting.deadWorkers' },
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'After an outage of PostgreSQL no worker is taken for dead.',
  },
  {
    name: 'gap-does-not-delay-the-judge',
    ...{ file: beat, find: '        steadySinceMs = sentAtMs;\n', replace: '' },
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'After an outage of PostgreSQL no worker is taken for dead.',
  },
  {
    name: 'worker-takes-itself-for-dead',
    ...{ file: waiting, find: 'id <> $2 and beat_at', replace: 'beat_at' },
    tests: [api('chores')],
    why: 'A late beat is not a dead worker’s.',
  },
  {
    name: 'every-worker-is-dead',
    ...{ file: waiting, find: "beat_at < now() - $3::integer * interval '1 ms'", replace: '$3::integer > 0' },
    tests: [api('chores')],
    why: 'Only a worker without a beat is dead.',
  },
  {
    name: 'living-worker-is-forgotten',
    ...{
      file: dead,
      find: "where beat_at < now() - $1::integer * interval '1 ms'",
      replace: 'where $1::integer > 0',
    },
    tests: [api('dead-workers')],
    why: 'A living worker keeps its leases.',
  },
  {
    name: 'waiting-order-is-released',
    ...{
      file: dead,
      find: 'from execution_queue\n  where holder in (select id from dead) and leased_until is not null',
      replace: 'from execution_queue\n  where holder in (select id from dead)',
    },
    tests: [api('dead-workers')],
    why: 'What waits for its retry goes on waiting.',
  },
  {
    name: 'release-waits-for-a-lingering-lock',
    ...{ file: dead, find: '  for update skip locked\n), orders', replace: '  for update\n), orders' },
    tests: [api('dead-workers')],
    why: 'One locked row does not hold up all others.',
  },
  {
    name: 'release-waits-for-a-lingering-service',
    ...{ file: dead, find: '  for update skip locked\n), services', replace: '  for update\n), services' },
    tests: [api('dead-workers')],
    why: 'What a frozen worker was storing of the core does not hold up the orders of all.',
  },
  {
    name: 'released-order-keeps-its-place',
    ...{ file: dead, find: ',\n      due_at = now()', replace: '' },
    tests: [api('dead-workers')],
    why: 'The next claim finds it without a look back.',
  },
  {
    name: 'claims-without-a-fresh-beat',
    ...{
      file: `${sender}/claimer.ts`,
      find: 'if (!isFresh()) return [];',
      replace: '',
    },
    tests: [webhooks('leases')],
    why: 'A sender that may be taken for dead takes nothing.',
  },
  {
    name: 'sends-without-a-fresh-beat',
    ...{ file: `${sender}/run-delivery.ts`, find: '!isFresh() || ', replace: '' },
    tests: [webhooks('leases')],
    why: 'A sender that was frozen between claim and request sends nothing.',
  },
  {
    name: 'interrupt-leaves-requests-open',
    ...{
      file: 'server/src/platform/worker/work-queue.ts',
      find: '      stopping.abort();\n      stopping = new',
      replace: '      stopping = new',
    },
    tests: [webhooks('leases')],
    why: 'A request does not outlive the lease beside the heir’s.',
  },
  {
    name: 'worker-without-a-name-in-leases',
    ...{ file: 'server/src/orders/executions/sql/queue.ts', find: '    holder = $5::uuid,\n', replace: '' },
    tests: ['server/test/faults/killed-workers.test.ts'],
    why: 'The order of a killed worker goes on within seconds.',
  },
  {
    name: 'beat-does-not-move-the-end',
    file: beat,
    find: '    clearTimeout(timer);\n    timer =',
    replace: '    timer =',
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'A worker that beats goes on.',
  },
  {
    name: 'stopped-worker-is-told-to-stop',
    file: beat,
    find: '    stop(): void {\n      clearTimeout(timer);',
    replace: '    stop(): void {',
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'A worker that has stopped ends nothing of the next.',
  },
  {
    name: 'judge-too-early',
    file: beat,
    find: 'steadySinceMs > deadAfterMs',
    replace: 'steadySinceMs > beatMs',
    tests: ['server/src/background/worker-beat.test.ts'],
    why: 'After an outage of PostgreSQL no worker is taken for dead.',
  },
  {
    name: 'nobody-dead-announced',
    file: dead,
    find: 'if (workers === 0) return',
    replace: 'if (workers < 0) return',
    tests: [api('dead-workers')],
    why: 'Workers are not woken for nothing.',
  },
  {
    name: 'claims-of-proven-without-a-fresh-beat',
    file: `${sender}/claimer.ts`,
    find: `(isFresh() ? claim(deps, ready.take.proven(count), 'proven') : [])`,
    replace: `claim(deps, ready.take.proven(count), 'proven')`,
    tests: [`${sender}/claimer.test.ts`],
    why: 'A sender that may be taken for dead takes nothing.',
  },
  {
    name: 'claims-of-urgent-without-a-fresh-beat',
    file: `${sender}/claimer.ts`,
    find: `(isFresh() ? claim(deps, ready.take.urgent(count), 'urgent') : [])`,
    replace: `claim(deps, ready.take.urgent(count), 'urgent')`,
    tests: [`${sender}/claimer.test.ts`],
    why: 'A sender that may be taken for dead takes nothing.',
  },
];

/** Mutants of what a process starts and repeats. */
export const backgroundMutants: Mutant[] = [
  ...beatMutants,
  chore('expiry', 'run: (stopping) => expireBundles(db, service, stopping)', 'Bundles expire.'),
  chore('recoveries', 'run: () => runRecoveries(db, { ...service, served })', 'Recoveries run.'),
  chore(
    'sweep',
    'run: (stopping) => sweep(db, clock, rules, stopping)',
    'Rows are kept as long as promised.',
  ),
  chore('uses', 'run: () => keys.flushUses()', 'When a key was last used is saved.'),
  ...[
    ['expires_at <= $1', '$1::timestamptz is not null'],
    [`status = 'active' and expires_at <= $1`, 'expires_at <= $1'],
    ['recoveries where finished_at is null', 'recoveries'],
    ['failure_group_retries where finished_at is null', 'failure_group_retries'],
    [' and head.last_position > place.position', ''],
    [` where \${isToReport}`, ''],
    ['execution_resolutions where closed_at is null', 'execution_resolutions'],
  ].map(
    ([find = '', replace = ''], index): Mutant => ({
      ...{ name: `chores-called-for-nothing-${index + 1}`, file: 'server/src/background/waiting.ts' },
      ...{ find, replace, tests: [api('chores')] },
      why: 'A deployment at rest does not start chores; what waits is seen.',
    }),
  ),
  ...[
    ['failing_since is not null and (reported_health is null or', 'failing_since is not null and (true or'],
    [`reported_health = 'recovered'\n    or `, ''],
  ].map(
    ([find = '', replace = ''], index): Mutant => ({
      name: `health-reported-wrongly-${index + 1}`,
      file: 'server/src/notify/webhooks/endpoints/is-to-report.ts',
      ...{ find, replace, tests: [api('chores')] },
      why: 'What an endpoint has to be told of is reported, and nothing else starts the chore.',
    }),
  ),
  {
    name: 'chore-not-called',
    file: chores,
    find: 'if (waiting?.[when]) wake();',
    replace: 'if (waiting?.[when] && !when) wake();',
    tests: [api('chores')],
    why: 'What waits for a chore gets it.',
  },
  {
    name: 'chore-not-told-to-stop',
    file: chores,
    find: '      stopping.abort();\n',
    replace: '',
    tests: [api('chores')],
    why: 'A process that stops does not wait for a long chore.',
  },
  {
    name: 'ordered-deliveries-wait-for-the-chore',
    file: 'server/src/background/start-work.ts',
    find: 'if (hasWaiting) placer.wake();',
    replace: '',
    tests: [webhooks('ordered')],
    why: 'An ordered delivery is placed as soon as its event has a position.',
  },
];
