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
    name: 'place-of-the-database-not-told',
    ...{ file: parent, find: 'if (embedded?.notice) log.info(embedded.notice);', replace: '' },
    tests,
    why: 'Whoever looks for the data, to back it up, finds it.',
  },
  {
    name: 'stopped-child-keeps-running',
    ...{ file: 'server/src/commands/serve.ts', find: '  cluster.worker?.disconnect();', replace: '' },
    tests,
    why: 'A process that has stopped ends, and with the last the command.',
  },
  {
    name: 'one-process-too-many',
    ...{ file: parent, find: 'n < count; n++', replace: 'n <= count; n++' },
    tests,
    why: 'There are as many processes as were asked for.',
  },
  {
    name: 'broken-stop-called-clean',
    ...{ file: parent, find: 'isClean &&= code === 0;', replace: 'isClean &&= code !== -1;' },
    tests,
    why: 'Whoever stops the command learns that a process could not finish its work.',
  },
  {
    name: 'address-of-a-stopped-sandbox-left',
    ...{ file: parent, find: '  await address?.remove();\n', replace: '' },
    tests,
    why: 'The command line does not look for a sandbox that was stopped.',
  },
  {
    name: 'lost-database-not-noticed',
    ...{
      file: parent,
      find: 'await Promise.race([stopSignal, ...(lost ? [lost] : [])])',
      replace:
        'await Promise.race([stopSignal, ...(lost ? [lost.finally(() => new Promise(() => {}))] : [])])',
    },
    tests,
    why: 'Without its database the command ends, so that whoever watches it starts it again.',
  },
  {
    name: 'orders-of-killed-processes-wait',
    ...{ file: parent, find: '    await releaseOrphanedClaims(connection.db, log);', replace: '   ' },
    tests,
    why: 'What a killed command had begun goes on at the next start, and not after its lease.',
  },
  {
    name: 'certificates-reloaded-by-nobody',
    ...{ file: parent, find: "children.signal('SIGHUP')", replace: 'void children' },
    tests: ['server/test/live/reload-certificates.test.ts'],
    why: 'A new certificate is used by all processes without a restart.',
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
