import type { Mutant } from './mutant.ts';

const migrate = 'server/test/process/migrate.test.ts';

/** Mutants of upgrades: a migration beside processes that serve requests. */
export const upgradeMutants: Mutant[] = [
  {
    name: 'migration-holds-up-requests',
    file: 'server/src/db/migrate.ts',
    find: 'set local lock_timeout = ',
    replace: 'set local lock_timeout = 0; -- ',
    tests: [migrate],
    why: 'A migration that waits for a table’s lock lets other statements pass.',
  },
  {
    name: 'migration-without-patience',
    file: 'server/src/db/migration-lock.ts',
    find: 'if (cause?.code !== lockNotAvailable) throw error;',
    replace: 'if (cause?.code !== lockNotAvailable || isFirst) throw error;',
    tests: [migrate],
    why: 'A migration that did not get a table’s lock tries again.',
  },
  {
    name: 'migration-never-gives-up',
    file: 'server/src/db/migration-lock.ts',
    find: 'if (performance.now() > deadlineMs) {\n        throw',
    replace: 'if (performance.now() > deadlineMs + 1e9) {\n        throw',
    tests: [migrate],
    why: 'A migration that does not get a table’s lock gives up after a while.',
  },
];
