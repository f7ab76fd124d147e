import { type Mutant, webhooks } from './mutant.ts';

const taker = 'server/src/notify/webhooks/sender/take-committed.ts';
const claims = 'server/src/notify/webhooks/sender/endpoint-claims.ts';
const groupCommit = 'server/src/platform/db/group-commit.ts';
const collects = ['server/src/platform/db/group-commit.test.ts'];
const tests = ['server/src/notify/webhooks/sender/take-committed.test.ts'];

/** Of events that are sent by the process that commits them, without a claim. */
export const handOverMutants: Mutant[] = [
  {
    name: 'event-not-handed-over',
    ...{
      file: 'server/src/background/start-webhooks.ts',
      find: 'onCommit(sender.take)',
      replace: 'onCommit(() => false)',
    },
    tests: [webhooks('hand-over')],
    why: 'The process that commits an event sends it without reading it back.',
  },
  {
    name: 'order-event-not-handed-over',
    ...{
      file: 'server/src/orders/esims/run-provision.ts',
      find: '{ ...committed, event: row.event',
      replace: '{ ...committed, sentAtMs: 0, event: row.event',
    },
    tests: [webhooks('hand-over')],
    why: 'So does the process that ends an order.',
  },
  {
    name: 'handed-over-to-an-old-address',
    ...{ file: taker, find: ' || lease.target.version !== queued.endpoint_version', replace: '' },
    tests: [...tests, webhooks('hand-over')],
    why: 'What the sender knows of an endpoint is used only while its row is the same.',
  },
  {
    name: 'rotation-leaves-the-version',
    file: 'server/src/notify/webhooks/endpoints/rotate-secret.ts',
    find: 'await renewEndpoint(tx, key)',
    replace: 'await requireEndpoint(ctx, tx, params.id)',
    tests: [webhooks('hand-over')],
    why: 'A new secret signs the very next event.',
  },
  {
    name: 'handed-over-with-an-ended-secret',
    ...{
      file: taker,
      find: 'secretsUntil.getTime() <= clock.nowMs()',
      replace: 'secretsUntil.getTime() < 0',
    },
    tests,
    why: 'A secret does not sign after its end.',
  },
  {
    name: 'handed-over-beyond-the-lease',
    ...{ file: taker, find: ' || !claims.isLeased(delivery, timeoutMs)', replace: '' },
    tests,
    why: 'An attempt ends before its lease does.',
  },
  {
    name: 'handed-over-without-a-beat',
    ...{ file: taker, find: 'isFresh() && committed', replace: 'committed' },
    tests,
    why: 'A process whose leases may end sends nothing.',
  },
  {
    name: 'handed-over-to-a-failing-endpoint',
    ...{ file: taker, find: "lanes.standingOf(endpointUuid) === 'proven' && ", replace: '' },
    tests,
    why: 'Endpoints that fail have slots and a pace of their own.',
  },
  {
    name: 'handed-over-before-the-waiting',
    ...{ file: taker, find: ' && !ready.has(endpointUuid)', replace: '' },
    tests,
    why: 'New deliveries do not overtake a backlog again and again.',
  },
  {
    name: 'handed-over-without-room',
    ...{ file: taker, find: 'lanes.isOpen(endpointUuid) && ', replace: '' },
    tests,
    why: 'An endpoint gets as many at once as it has shown to take.',
  },
  {
    name: 'handed-over-without-a-slot',
    ...{ file: taker, find: ' && slots.proven.availableTo(accountUuid) > 0', replace: '' },
    tests,
    why: 'One account cannot take all slots.',
  },
  {
    name: 'handed-over-slot-not-taken',
    ...{ file: taker, find: '    slots.proven.acquire(delivery.account_id, 1);\n', replace: '' },
    tests,
    why: 'What is handed over counts as the account’s.',
  },
  {
    name: 'handed-over-though-claimed',
    ...{ file: claims, find: ' || claim.claimedAtMs >= sentAtMs', replace: '' },
    tests: [...tests, webhooks('hand-over')],
    why: 'A claim that ended after the statement was sent may have found its deliveries.',
  },
  {
    name: 'handed-over-before-a-known-backlog',
    ...{ file: claims, find: "start === 'look back' && from === null && ", replace: '' },
    tests,
    why: 'What waits goes first.',
  },
  {
    name: 'handed-over-to-an-avoided-endpoint',
    ...{ file: claims, find: ' && monotonicMs() >= avoidedUntilMs ? claim.lease', replace: ' ? claim.lease' },
    tests,
    why: 'A process that cannot send to an endpoint leaves it to the others.',
  },
  {
    name: 'handed-over-not-held',
    ...{ file: claims, find: '      claim.held.set(id, 0);\n', replace: '' },
    tests,
    why: 'The next claim leaves out what is being sent.',
  },
  {
    name: 'results-not-collected',
    ...{ file: groupCommit, find: 'performance.now() < collectUntilMs && ', replace: 'false && ' },
    tests: collects,
    why: 'At 100 events a second, results share statements.',
  },
  {
    name: 'urgent-results-wait',
    ...{ file: groupCommit, find: ' || waiting.some(({ item }) => isUrgent(item))', replace: '' },
    tests: collects,
    why: 'The next event of an eSIM does not wait for other results.',
  },
  {
    name: 'many-results-wait',
    ...{ file: groupCommit, find: 'return waiting.length >= secondStatementFrom || ', replace: 'return ' },
    tests: collects,
    why: 'Under load nothing waits.',
  },
];
