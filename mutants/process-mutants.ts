import type { Mutant } from './mutant.ts';

const [parent, siblings] = [
  'server/src/commands/serve-processes.ts',
  'server/src/platform/processes/siblings.ts',
];
const tests = ['server/test/process/one-command.test.ts'];

/** Of several processes under one command. */
export const processMutants: Mutant[] = [
  {
    name: 'ended-process-not-replaced',
    ...{ file: parent, find: 'if (!isStopping) cluster.fork();', replace: '' },
    tests,
    why: 'A process that crashes is replaced.',
  },
  {
    name: 'failed-start-tried-for-ever',
    ...{ file: parent, find: '    resolveFirst(null);\n', replace: '' },
    tests,
    why: 'What the first process could not do, such as to take the port, the others could not either.',
  },
  {
    name: 'children-left-behind',
    ...{ file: parent, find: "      signal('SIGTERM');\n", replace: '' },
    tests,
    why: 'Stopping the command stops all its processes.',
  },
  {
    name: 'child-starts-its-own-database',
    ...{ file: 'server/src/serve.ts', find: 'share: cluster.isWorker,', replace: 'share: false,' },
    tests,
    why: 'The processes share the embedded PostgreSQL of their parent.',
  },
  {
    name: 'too-few-connections-for-all',
    ...{ file: parent, find: '    embeddedConnections: connectionsFor(config),\n', replace: '' },
    tests,
    why: 'The embedded PostgreSQL has room for the pools of all processes.',
  },
  {
    name: 'processes-not-told-apart',
    ...{ file: siblings, find: '  registry.setDefaultLabels({ process: String(self.id) });\n', replace: '' },
    tests,
    why: 'Sums of several processes fall when one is replaced, and count as an increase of the others.',
  },
  {
    name: 'scrape-waits-for-a-hanging-process',
    ...{ file: siblings, find: 'const answerMs = 2_000;', replace: 'const answerMs = 600_000;' },
    tests,
    why: 'Metrics are needed most while a process hangs.',
  },
];
