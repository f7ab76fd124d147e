import { api, type Mutant } from './mutant.ts';

const tests = [api('guards')];
const ofOrders = 'Whoever runs orders hears at once of one that was accepted, started again or continued.';
const ofEvents = 'Whoever sends events hears at once that an account has new ones.';
const deliveries = `    afterCommit: () => ctx.signals.announce('deliveries', accountUuid),\n`;
const executions = `    afterCommit: () => ctx.signals.announce('executions'),\n`;
const nothing = '    afterCommit: () => undefined,\n';

/** Mutants of what tells other processes that there is work. Without it, the work waits for a poll. */
export const announcementMutants: Mutant[] = [
  ...Object.entries({
    'change-of-an-esim-not-announced': 'executions/start',
    'batch-not-announced': 'batches/create',
    'retry-not-announced': 'operator/retry',
    'retry-of-a-group-not-announced': 'operator/retry-group',
    'resolution-not-announced': 'operator/resolve',
  }).map(
    ([name, path]): Mutant => ({
      ...{ name, file: `server/src/orders/${path}.ts`, find: executions, replace: nothing },
      ...{ tests, why: ofOrders },
    }),
  ),
  {
    name: 'continued-retry-of-a-group-not-announced',
    file: 'server/src/orders/operator/continue-group-retries.ts',
    find: "    if (step.started) deps.signals.announce('executions');\n",
    replace: '',
    tests,
    why: ofOrders,
  },
  ...Object.entries({
    'cancellation-not-announced': 'esims/cancel-execution',
    'cancellation-of-a-batch-not-announced': 'batches/cancel',
  }).map(
    ([name, path]): Mutant => ({
      ...{ name, file: `server/src/orders/${path}.ts`, find: deliveries, replace: nothing },
      ...{ tests, why: ofEvents },
    }),
  ),
  ...Object.entries({
    'canceled-bundle-not-announced': 'bundles/cancel',
    'simulation-not-announced': 'sandbox/simulate',
  }).map(
    ([name, path]): Mutant => ({
      ...{ name, file: `server/src/orders/${path}.ts` },
      find: `    afterCommit: () => ctx.signals.announce('deliveries', ctx.account.uuid),\n`,
      ...{ replace: nothing, tests, why: ofEvents },
    }),
  ),
  {
    name: 'notification-not-announced',
    file: 'server/src/orders/observations/handle-observation.ts',
    find: "    signals.announce('deliveries', seen.account_id);\n",
    replace: '    void signals;\n',
    tests,
    why: ofEvents,
  },
  {
    name: 'reported-usage-not-announced',
    file: 'server/src/orders/observations/report-usage.ts',
    find: "ctx.signals.announce('deliveries', accountUuid);",
    replace: 'void accountUuid;',
    tests,
    why: ofEvents,
  },
  {
    name: 'usage-told-by-a-cell-not-announced',
    file: 'server/src/orders/observations/take-observations.ts',
    find: '  for (const account of taken.accountsWithEvents) accounts.add(account);\n',
    replace: '  void accounts;\n',
    tests,
    why: ofEvents,
  },
  {
    name: 'notification-told-by-a-cell-not-announced',
    file: 'server/src/orders/observations/take-observations.ts',
    find: '  accounts.add(seen.account_id);\n',
    replace: '  void accounts;\n',
    tests,
    why: ofEvents,
  },
  {
    name: 'terminations-of-a-closed-account-not-announced',
    file: 'server/src/orders/closing/continue.ts',
    find: "        deps.signals.announce('executions');\n",
    replace: '',
    tests,
    why: ofOrders,
  },
  {
    name: 'canceled-orders-of-a-closed-account-not-announced',
    file: 'server/src/orders/closing/continue.ts',
    find: "        deps.signals.announce('deliveries', step.accountUuid);\n",
    replace: '',
    tests,
    why: ofEvents,
  },
  {
    name: 'erasure-not-announced',
    file: 'server/src/orders/erasures/run.ts',
    find: "      deps.signals.announce('deliveries', after);\n",
    replace: '',
    tests,
    why: ofEvents,
  },
];
