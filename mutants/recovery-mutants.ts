import { type Mutant, webhooks } from './mutant.ts';

/** Recoveries of missed events, and the statistics of endpoints. */
export const recoveryMutants: Mutant[] = [
  {
    name: 'recovery-before-older-writers-commit',
    file: 'server/src/notify/webhooks/recoveries/sql.ts',
    find: 'or age(recovery.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid))',
    replace: 'or true)',
    tests: [webhooks('deliveries-api')],
    why: 'A recovery finds an event that was written before it and commits after it.',
  },
  {
    name: 'recovery-waits-for-another-process',
    file: 'server/src/notify/webhooks/recoveries/sql.ts',
    find: 'for update of recovery skip locked',
    replace: 'for update of recovery',
    tests: [webhooks('delivery-guards')],
    why: 'A process takes another recovery than the one that is locked.',
  },
  {
    name: 'recoveries-of-an-endpoint-at-once',
    file: 'server/src/notify/webhooks/recoveries/sql.ts',
    find: '\nfor no key update of endpoint skip locked',
    replace: '',
    tests: [webhooks('delivery-guards')],
    why: 'Two recoveries of an endpoint run one after the other.',
  },
  {
    name: 'recovery-misses-a-fast-clock',
    file: 'server/src/notify/webhooks/recoveries/recover.ts',
    find: 'highestUuidAt(nowMs + clockSkewMs)',
    replace: 'highestUuidAt(nowMs)',
    tests: [webhooks('delivery-guards')],
    why: 'A recovery finds events of a machine whose clock is ahead.',
  },
];
