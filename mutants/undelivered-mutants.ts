import { type Mutant, webhooks } from './mutant.ts';

const tests = [webhooks('undelivered')];
const parts = 'server/src/notify/events/undelivered-parts.ts';
const recoveries = 'server/src/notify/webhooks/recoveries/run-recoveries.ts';

/** What did not arrive. */
export const undeliveredMutants: Mutant[] = [
  {
    name: 'pending-counts-as-undelivered',
    file: parts,
    find: `return \`\${isNotPending(e, event)} and not \${ended}\`;`,
    replace: `return \`not \${ended}\`;`,
    tests,
    why: 'An event that is on its way is not undelivered.',
  },
  {
    name: 'delivered-counts-as-undelivered',
    file: parts,
    find: `return \`\${isNotPending(e, event)} and not \${ended}\`;`,
    replace: `return \`\${isNotPending(e, event)} and (true or \${ended})\`;`,
    tests,
    why: 'An event that was delivered later is not undelivered.',
  },
  {
    name: 'undelivered-without-subscription',
    file: parts,
    find: `where \${subscribes('gap.types', 'kind.type')} and \${isWanted('kind.type')}`,
    replace: `where \${isWanted('kind.type')}`,
    tests,
    why: 'An endpoint has missed only what it was subscribed to.',
  },
  {
    name: 'undelivered-to-whom-it-is-about',
    file: parts,
    find: ` and not \${isAbout(e, 'event')}\n          order by`,
    replace: '\n          order by',
    tests,
    why: 'An endpoint is not told of itself, so it has not missed that.',
  },
  {
    name: 'recovery-to-whom-was-not-subscribed',
    file: 'server/src/notify/webhooks/recoveries/sql.ts',
    find: `($4::boolean is not true or \${isExpected})`,
    replace: `($4::boolean is not true or true or \${isExpected})`,
    tests,
    why: 'A recovery without a time sends what is counted as undelivered, and nothing else.',
  },
  {
    name: 'gap-not-noted-by-enable',
    file: 'server/src/notify/webhooks/endpoints/enable.ts',
    find: 'await noteGap(ctx, tx, key);',
    replace: '',
    tests,
    why: 'What an endpoint missed is still known after it is enabled.',
  },
  {
    name: 'gap-with-later-subscriptions',
    file: 'server/src/notify/webhooks/endpoints/update.ts',
    find: "if (status === 'enabled' || fields.enabled_event_types)",
    replace: "if (status === 'enabled')",
    tests,
    why: 'A disabled endpoint that changes its subscriptions has missed what it subscribed to before.',
  },
  {
    name: 'gap-kept-after-recovery',
    file: recoveries,
    find: 'if (isFinished && recovery.types === null) await forgetSearched(tx, recovery);',
    replace: '',
    tests,
    why: 'A gap that was recovered is not searched again.',
  },
  {
    name: 'gap-forgotten-by-part',
    file: recoveries,
    find: 'if (isFinished && recovery.types === null)',
    replace: 'if (isFinished)',
    tests,
    why: 'A recovery of some types leaves the others to be recovered.',
  },
  {
    name: 'gap-forgotten-beyond-its-end',
    file: 'server/src/notify/webhooks/undelivered/sql.ts',
    find: '  and gap.until_at <= $4\n',
    replace: '  and $4::timestamptz is not null\n',
    tests,
    why: 'A recovery up to a time leaves what happened later.',
  },
  {
    name: 'earlier-deliveries-not-superseded',
    file: 'server/src/notify/webhooks/sql-pieces.ts',
    find: 'set is_superseded = true',
    replace: 'set is_superseded = is_superseded',
    tests,
    why: 'What was queued again is not read each time the endpoint is shown.',
  },
  {
    name: 'recovery-of-the-future',
    file: 'server/src/notify/webhooks/recoveries/recover.ts',
    find: 'if (since !== undefined && since * 1_000 > clock.nowMs()) {',
    replace: 'if (since !== undefined && since < 0) {',
    tests,
    why: 'A time in the future, such as milliseconds, is a mistake.',
  },
  {
    name: 'replay-without-bound',
    file: 'server/src/notify/webhooks/deliveries/replay.ts',
    find: 'if (count > maxDeliveries) throw tooManyDeliveries();',
    replace: '',
    tests,
    why: 'One request queues a bounded number of deliveries.',
  },
];
