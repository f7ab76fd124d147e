import { api, type Mutant } from './mutant.ts';

const migrate = 'server/test/process/migrate.test.ts';

/** Mutants of upgrades, of PostgreSQL too: a migration beside processes that serve requests, and plans before PostgreSQL 18. */
export const upgradeMutants: Mutant[] = [
  {
    name: 'migration-holds-up-requests',
    file: 'server/src/platform/db/migrate.ts',
    find: 'set local lock_timeout = ',
    replace: 'set local lock_timeout = 0; -- ',
    tests: [migrate],
    why: 'A migration that waits for a table’s lock lets other statements pass.',
  },
  {
    name: 'migration-without-patience',
    file: 'server/src/platform/db/migration-lock.ts',
    find: "if (!lockStates.includes(cause?.code ?? '')) throw error;",
    replace: "if (!lockStates.includes(cause?.code ?? '') || isFirst) throw error;",
    tests: [migrate],
    why: 'A migration that did not get a table’s lock tries again.',
  },
  {
    name: 'migration-ends-with-a-deadlock',
    file: 'server/src/platform/db/migration-lock.ts',
    find: "['55P03', '40P01']",
    replace: "['55P03']",
    tests: [migrate],
    why: 'A migration that PostgreSQL ended because of a deadlock tries again.',
  },
  {
    name: 'migration-never-gives-up',
    file: 'server/src/platform/db/migration-lock.ts',
    find: 'if (performance.now() > deadlineMs) {\n        throw',
    replace: 'if (performance.now() > deadlineMs + 1e9) {\n        throw',
    tests: [migrate],
    why: 'A migration that does not get a table’s lock gives up after a while.',
  },
  {
    name: 'audit-actor-by-any-index',
    file: 'server/src/accounts/audit/sql.ts',
    find: ' and ${expression} between ${value} and ${value} and',
    replace: ' and',
    tests: [api('filtered-pages')],
    why: 'A list by actor uses the index of actors, also for one that statistics do not know.',
  },
];
