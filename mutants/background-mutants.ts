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
  {
    name: 'ordered-deliveries-wait-for-the-chore',
    file: 'server/src/background/start-work.ts',
    find: 'if (hasWaiting) placer.wake();',
    replace: '',
    tests: [webhooks('ordered')],
    why: 'An ordered delivery is placed as soon as its event has a position.',
  },
];
