import { api, type Mutant } from './mutant.ts';

const metrics = { file: 'server/src/platform/telemetry/metrics.ts', tests: [api('metrics')] };

/** Connections to PostgreSQL: which errors mean what, which statements wait, and what a search for a server leaves behind. */
export const connectionMutants: Mutant[] = [
  {
    name: 'no-metrics-without-queues',
    ...metrics,
    find: 'await readQueues(db).catch(() => [])',
    replace: 'await readQueues(db)',
    why: 'While PostgreSQL fails, a process still serves its own metrics.',
  },
  {
    name: 'no-metrics-without-the-core',
    ...metrics,
    find: 'await readCoreBehind(db).catch(() => undefined)',
    replace: 'await readCoreBehind(db)',
    why: 'While PostgreSQL fails, a process still serves its own metrics.',
  },
  {
    name: 'core-has-all-while-nobody-knows',
    ...metrics,
    find: 'this.remove();',
    replace: 'this.reset();',
    why: 'While PostgreSQL fails, no metric says that the core has everything.',
  },
];
