import { api, type Mutant } from './mutant.ts';

const signals = 'server/src/platform/db/signals.ts';
const workQueue = 'server/src/platform/worker/work-queue.ts';
const sequencer = 'server/src/notify/feed/sequencer.ts';
const quiet = 'server/src/background/unless-quiet.ts';
const chores = 'server/src/background/chores.ts';

/** Of polls and chores that are rare while nothing happens. */
export const restMutants: Mutant[] = [
  {
    name: 'hears-all-behind-a-pooler',
    file: signals,
    find: 'listening !== null && isStillAlone()',
    replace: 'isStillAlone()',
    tests: ['server/test/webhooks/send-now.test.ts'],
    why: 'Who cannot listen would learn of a new process late, so it goes on polling.',
  },
  {
    name: 'hears-all-beside-a-newcomer',
    file: signals,
    find: 'listening !== null && isStillAlone()',
    replace: 'listening !== null && isAlone',
    tests: ['server/test/webhooks/send-now.test.ts'],
    why: 'Beside another process work may go unnoticed, so the polls are as frequent as before.',
  },
  {
    name: 'listen-check-rare-beside-others',
    file: signals,
    find: 'restMs(heartbeatMs, isStillAlone())',
    replace: 'restMs(heartbeatMs, true)',
    tests: ['server/test/webhooks/send-now.test.ts'],
    why: 'A connection that hears nothing more is noticed within seconds, as signals of others are lost meanwhile.',
  },
  {
    name: 'listen-check-frequent-while-alone',
    file: signals,
    find: 'restMs(heartbeatMs, isStillAlone())',
    replace: 'heartbeatMs',
    tests: ['server/test/webhooks/send-now.test.ts'],
    why: 'A process at rest costs a check every ten seconds instead of every two.',
  },
  {
    name: 'queue-polls-rarely-beside-others',
    file: workQueue,
    find: 'hearsAll() && performance.now() >= awaitsPollUntilMs',
    replace: 'performance.now() >= awaitsPollUntilMs',
    tests: ['server/src/platform/worker/work-queue.test.ts'],
    why: 'Work of a process that died before it told anybody is found within a second.',
  },
  {
    name: 'far-job-waits-for-a-rare-poll',
    file: workQueue,
    find: 'hearsAll() && performance.now() >= awaitsPollUntilMs',
    replace: 'hearsAll()',
    tests: ['server/src/platform/worker/work-queue.test.ts'],
    why: 'A retry that no timer announces begins within a second of its time.',
  },
  {
    name: 'probe-waits-for-a-rare-poll',
    file: 'server/src/orders/executions/worker.ts',
    find: 'options.hearsAll() && !breaker.isPaused()',
    replace: 'options.hearsAll()',
    tests: ['server/src/orders/executions/worker.test.ts'],
    why: 'Orders go on within seconds of the end of an outage.',
  },
  {
    name: 'sequencer-polls-rarely-beside-others',
    file: sequencer,
    find: 'restMs(pollMs, hearsAll())',
    replace: 'restMs(pollMs, true)',
    tests: ['server/src/notify/feed/sequencer.test.ts'],
    why: 'Events of a process that died before it told anybody get their positions within a second.',
  },
  {
    name: 'quiet-chore-never-runs',
    file: quiet,
    find: 'isQuiet && skipped < mostSkipped',
    replace: 'isQuiet',
    tests: ['server/src/background/unless-quiet.test.ts'],
    why: 'A missed signal delays a chore; it does not cancel it.',
  },
  {
    name: 'signal-during-a-run-forgotten',
    file: quiet,
    find: '        await work(stopping);\n',
    replace: '        await work(stopping);\n        isQuiet = true;\n',
    tests: ['server/src/background/unless-quiet.test.ts'],
    why: 'What is written while a chore runs is work for its next run.',
  },
  {
    name: 'failed-chore-waits-for-a-signal',
    file: quiet,
    find: '        isQuiet = false;\n        throw error;',
    replace: '        throw error;',
    tests: ['server/src/background/unless-quiet.test.ts'],
    why: 'A chore that failed is tried again at its next turn.',
  },
  {
    name: 'stopped-chores-listen-on',
    file: chores,
    find: 'for (const { end } of chores) end?.();',
    replace: '',
    tests: [api('chores')],
    why: 'A worker can be stopped and started again without leaving listeners behind.',
  },
  {
    name: 'counts-wait-for-the-fallback',
    file: chores,
    find: `['feed']`,
    replace: '[]',
    tests: [api('chores')],
    why: 'The overview counts new events within seconds.',
  },
  {
    name: 'first-statistics-wait-for-the-fallback',
    file: chores,
    find: `['executions', 'feed']`,
    replace: `['executions']`,
    tests: [api('chores')],
    why: 'A table that grows for the first time is analyzed within seconds.',
  },
  ...(['retryById(tx, tools, id)', 'resolveById(tx, deps, id, decision)'] as const).map(
    (done, n): Mutant => ({
      name: ['retry-on-the-command-line-told-nobody', 'decision-on-the-command-line-told-nobody'][
        n
      ] as string,
      file: 'server/src/commands/executions.ts',
      find: `${done});\n  await notifyOfOrders(tools.db);\n`,
      replace: `${done});\n`,
      tests: ['server/test/process/operator.test.ts'],
      why: 'What an operator starts on the command line begins at once, also where workers poll rarely.',
    }),
  ),
  {
    name: 'expired-bundles-told-to-nobody',
    file: 'server/src/orders/bundles/expire.ts',
    find: `    for (const accountUuid of new Set(batch.accountUuids)) deps.signals.announce('deliveries', accountUuid);\n`,
    replace: '',
    tests: [api('bundles')],
    why: 'The event of an expired bundle is sent at once.',
  },
  {
    name: 'ended-services-told-to-nobody',
    file: 'server/src/orders/service/end-due.ts',
    find: `      deps.signals.announce('deliveries', accountUuid);\n`,
    replace: '      void accountUuid;\n',
    tests: [api('service-guards')],
    why: 'The event of a service that ended is sent at once.',
  },
  {
    name: 'disabled-endpoint-told-to-nobody',
    file: 'server/src/background/start-webhooks.ts',
    find: `      service.signals.announce('deliveries', accountUuid);`,
    replace: '      void accountUuid;',
    tests: ['server/test/webhooks/sending.test.ts'],
    why: 'The other endpoints hear of a disabled one at once.',
  },
  {
    name: 'last-failure-told-to-nobody',
    file: 'server/src/orders/executions/worker.ts',
    find: `error);\n      options.signals.announce('deliveries', claimed.account_id);`,
    replace: 'error);',
    tests: ['server/src/orders/executions/worker.test.ts'],
    why: 'The event of an order that failed after its last attempt is sent at once.',
  },
];
