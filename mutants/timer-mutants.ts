import type { Mutant } from './mutant.ts';

const unit = (name: string) => [`server/src/platform/${name}.test.ts`];

/** What work leaves behind, and which errors are worth a retry. */
export const timerMutants: Mutant[] = [
  {
    name: 'ended-work-leaves-its-timer',
    file: 'server/src/platform/worker/deadline.ts',
    find: `    clearTimeout(timer);\n`,
    replace: '',
    tests: unit('worker/deadline'),
    why: 'Work that has ended is not told of its deadline.',
  },
  {
    name: 'stopped-chore-leaves-its-timer',
    file: 'server/src/platform/worker/every.ts',
    find: `      clearTimeout(timer);\n      await running;`,
    replace: '      await running;',
    tests: unit('worker/every'),
    why: 'A stopped chore leaves nothing behind.',
  },
  {
    name: 'ended-rest-leaves-its-timer',
    file: 'server/src/platform/worker/wake.ts',
    find: `            clearTimeout(timer);\n`,
    replace: `            void timer;\n`,
    tests: unit('worker/wake'),
    why: 'A rest that is ended early leaves nothing behind.',
  },
  {
    name: 'unreachable-host-ends-for-good',
    file: 'server/src/platform/db/unavailable.ts',
    find: `  'EHOSTUNREACH',\n`,
    replace: '',
    tests: unit('db/unavailable'),
    why: 'A host that cannot be reached may be back soon.',
  },
  {
    name: 'unknown-name-ends-for-good',
    file: 'server/src/platform/db/unavailable.ts',
    find: `  'ENOTFOUND',\n`,
    replace: '',
    tests: unit('db/unavailable'),
    why: 'A name that is not found may be found soon.',
  },
  {
    name: 'slow-names-end-for-good',
    file: 'server/src/platform/db/unavailable.ts',
    find: `  'EAI_AGAIN',\n`,
    replace: '',
    tests: unit('db/unavailable'),
    why: 'A name server that does not answer may answer soon.',
  },
  {
    name: 'full-pool-means-a-lost-server',
    file: 'server/src/platform/db/unavailable.ts',
    find: '!/trying to connect|after calling end/i.test',
    replace: '!/after calling end/i.test',
    tests: unit('db/unavailable'),
    why: 'A process whose connections are all in use keeps to its server.',
  },
  {
    name: 'idle-session-means-a-lost-server',
    file: 'server/src/platform/db/unavailable.ts',
    find: '/^(08...|57P0[1-4])$/',
    replace: '/^(08...|57P0[1-5])$/',
    tests: unit('db/unavailable'),
    why: 'A session that was ended for being idle says nothing of its server.',
  },
  {
    name: 'dropped-database-is-no-lost-server',
    file: 'server/src/platform/db/unavailable.ts',
    find: '/^(08...|57P0[1-4])$/',
    replace: '/^(08...|57P0[1-3])$/',
    tests: unit('db/unavailable'),
    why: 'A server that has dropped the database is left for another one.',
  },
  {
    name: 'closed-client-fails-for-good',
    file: 'server/src/platform/db/unavailable.ts',
    find: '|not queryable|',
    replace: '|',
    tests: unit('db/unavailable'),
    why: 'A statement on a connection that was lost is worth a retry.',
  },
];
