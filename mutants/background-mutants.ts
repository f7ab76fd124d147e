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

/** Mutants of what a process starts and repeats. */
export const backgroundMutants: Mutant[] = [
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
    ['failing_since is not null and (reported_health is null or', 'failing_since is not null and (true or'],
    [`reported_health = 'recovered'\n      or `, ''],
    ['execution_resolutions where closed_at is null', 'execution_resolutions'],
  ].map(
    ([find = '', replace = ''], index): Mutant => ({
      ...{ name: `chores-called-for-nothing-${index + 1}`, file: 'server/src/background/waiting.ts' },
      ...{ find, replace, tests: [api('chores')] },
      why: 'A deployment at rest does not start chores; what waits is seen.',
    }),
  ),
  {
    name: 'chore-not-called',
    file: chores,
    find: 'if (waiting?.[when]) wake();',
    replace: '',
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
