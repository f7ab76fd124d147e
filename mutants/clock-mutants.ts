import { api, type Mutant } from './mutant.ts';

const clocks = 'server/test/process/clocks.test.ts';
const databaseClock = 'server/src/db/database-clock.test.ts';

/** Mutants of the time: which clock decides, and what a process does whose own clock is wrong. */
export const clockMutants: Mutant[] = [
  {
    name: 'time-of-the-machine',
    file: 'server/src/db/database-clock.ts',
    find: 'return Math.floor(monotonicMs() + offsetMs);',
    replace: 'return Date.now();',
    tests: [databaseClock],
    why: 'The time is PostgreSQL’s, whatever the machine’s clock says.',
  },
  {
    name: 'time-of-the-machine-in-a-server',
    file: 'server/src/serve.ts',
    find: 'const newUuid = createUuidV7(clock);',
    replace: 'clock.nowMs = () => Date.now();\n  const newUuid = createUuidV7(clock);',
    tests: [clocks],
    why: 'A server uses PostgreSQL’s time.',
  },
  {
    name: 'time-of-the-machine-in-a-command',
    file: 'server/src/operator/with-database.ts',
    find: '      clock,\n',
    replace: '      clock: { nowMs: () => Date.now() },\n',
    tests: [clocks],
    why: 'A command uses PostgreSQL’s time.',
  },
  {
    name: 'core-signed-by-the-machines-time',
    file: 'server/src/operator/serve.ts',
    find: 'unixSeconds(clock.nowMs())',
    replace: 'unixSeconds(Date.now() + 0 * clock.nowMs())',
    tests: [clocks],
    why: 'Commands to the core are signed with PostgreSQL’s time.',
  },
  {
    name: 'time-ahead-of-the-database',
    file: 'server/src/db/database-clock.ts',
    find: 'offsetMs ?? lowestMs',
    replace: 'offsetMs ?? highestMs',
    tests: [databaseClock],
    why: 'The time is never ahead of PostgreSQL’s: what is due now is due there too.',
  },
  {
    name: 'time-not-followed-backwards',
    file: 'server/src/db/database-clock.ts',
    find: 'Math.min(Math.max(offsetMs ?? lowestMs, lowestMs), highestMs)',
    replace: 'Math.max(offsetMs ?? lowestMs, lowestMs) + 0 * highestMs',
    tests: [databaseClock],
    why: 'The time follows PostgreSQL’s clock when that is set back.',
  },
  {
    name: 'time-in-fractions-of-a-millisecond',
    file: 'server/src/db/database-clock.ts',
    find: 'Math.floor(monotonicMs() + offsetMs)',
    replace: '(monotonicMs() + offsetMs)',
    tests: [databaseClock],
    why: 'Ids of one millisecond ascend: within it, their counter is not restarted.',
  },
  {
    name: 'time-not-measured-again',
    file: 'server/src/processes/start-heartbeat.ts',
    find: 'await clock.measure(() => storeHeartbeat(db, heartbeat, goneAfterMs));',
    replace: 'await storeHeartbeat(db, heartbeat, goneAfterMs);',
    tests: [api('operator')],
    why: 'Each heartbeat corrects the process’s time.',
  },
  {
    name: 'first-window-by-the-machines-time',
    file: 'server/src/executions/claim-window.ts',
    find: 'clock.nowMs() - firstWindowMs',
    replace: 'Date.now() - firstWindowMs + 0 * clock.nowMs()',
    tests: ['server/src/executions/claim-window.test.ts'],
    why: 'A worker whose clock is ahead finds new orders at once, not only with its fallback scan.',
  },
  {
    name: 'paused-window-by-the-machines-time',
    file: 'server/src/executions/claim-while-paused.ts',
    find: 'new Date(clock.nowMs())',
    replace: 'new Date()',
    tests: ['server/src/executions/claim-while-paused.test.ts'],
    why: 'While the network is paused, a worker whose clock is ahead finds new commands at once.',
  },
  {
    name: 'ids-follow-a-clock-that-is-set-back',
    file: 'server/src/ids/uuid-v7.ts',
    find: 'if (nowMs > lastMs) {',
    replace: 'if (nowMs !== lastMs) {',
    tests: ['server/src/ids/uuid-v7.test.ts'],
    why: 'Ids of a process ascend when its time is corrected backwards.',
  },
];
