import { api, type Mutant, webhooks } from './mutant.ts';

const taker = 'server/src/notify/webhooks/sender/take-committed.ts';
const claims = 'server/src/notify/webhooks/sender/endpoint-claims.ts';
const groupCommit = 'server/src/platform/db/group-commit.ts';
const collects = ['server/src/platform/db/group-commit.test.ts'];
const accept = 'server/src/orders/executions/accept.ts';
const seats = 'server/src/orders/executions/take-accepted.ts';
const ofSeats = ['server/src/orders/executions/take-accepted.test.ts'];
const workQueue = 'server/src/platform/worker/work-queue.ts';
const ofQueue = ['server/src/platform/worker/work-queue.test.ts'];
const tests = ['server/src/notify/webhooks/sender/take-committed.test.ts'];

/** Of events that are sent by the process that commits them, and orders that are run by the one that accepts them, without a claim. */
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
  {
    name: 'accepted-order-is-claimed',
    ...{
      file: 'server/src/background/start-executions.ts',
      find: 'offer(worker.seat)',
      replace: 'offer(async () => null)',
    },
    tests: [api('seats')],
    why: 'The process that accepts an order runs it without a claim.',
  },
  {
    name: 'held-order-gets-a-seat',
    ...{ file: accept, find: 'productId !== heldProduct.id && ', replace: '' },
    tests: [api('seats')],
    why: 'An order that waits a minute does not run at once.',
  },
  {
    name: 'limited-account-holds-seats',
    ...{ file: accept, find: ' && account.limits.openExecutions === null', replace: '' },
    tests: [api('seats')],
    why: 'Orders that wait for their account’s lock hold no seats of others.',
  },
  {
    name: 'seat-of-a-refused-order-kept',
    ...{ file: accept, find: '  else seat?.release();\n  if', replace: '  if' },
    tests: [api('seats')],
    why: 'What is not accepted leaves its room to others.',
  },
  {
    name: 'seat-of-an-unknown-order-released',
    ...{ file: accept, find: 'if (wasRefused(error)) seat', replace: 'if (error) seat' },
    tests: [api('seats')],
    why: 'An order that may be stored with a lease is made free, and its ICCID is not used again.',
  },
  {
    name: 'order-without-a-seat-not-announced',
    ...{
      file: accept,
      find: "  if (result.outcome === 'accepted' && !lease) ctx.signals.announce('executions');\n",
      replace: '',
    },
    tests: [api('seats')],
    why: 'Workers learn at once of an order that they are to claim.',
  },
  {
    name: 'order-of-another-worker-freed',
    ...{
      file: 'server/src/orders/executions/sql/queue.ts',
      find: 'id = $2 and holder = $3 and fence = 1',
      replace: 'id = $2 and ($3::uuid is not null) and fence = 1',
    },
    tests: [api('seats')],
    why: 'Only the worker whose lease it is knows that the order never ran.',
  },
  {
    name: 'claimed-order-freed',
    ...{
      file: 'server/src/orders/executions/sql/queue.ts',
      find: ' and holder = $3 and fence = 1 and leased_until',
      replace: ' and holder = $3 and leased_until',
    },
    tests: [api('seats')],
    why: 'An order that was claimed since may have reached the network.',
  },
  {
    name: 'seat-while-the-network-is-paused',
    ...{ file: seats, find: 'breaker.isPaused() ? null : reserve()', replace: 'reserve()' },
    tests: ofSeats,
    why: 'While the network is paused, orders wait in their queue.',
  },
  {
    name: 'iccid-of-a-released-seat-lost',
    ...{ file: seats, find: '        if (iccid !== null) stock?.giveBack([iccid]);\n', replace: '' },
    tests: ofSeats,
    why: 'An ICCID that no order got is used by the next.',
  },
  {
    name: 'seat-before-those-who-wait',
    ...{ file: workQueue, find: 'stopped || isForOthers || running', replace: 'stopped || running' },
    tests: ofQueue,
    why: 'New orders do not overtake those that wait for room.',
  },
  {
    name: 'seats-without-bound',
    ...{ file: workQueue, find: ' || running.size + reserved >= concurrency', replace: '' },
    tests: ofQueue,
    why: 'A worker runs no more at once than it may.',
  },
  {
    name: 'reserved-room-claimed',
    ...{
      file: workQueue,
      find: 'concurrency - running.size - reserved',
      replace: 'concurrency - running.size',
    },
    tests: ofQueue,
    why: 'A place that is promised is not given to another.',
  },
  {
    name: 'woken-without-room-forgotten',
    ...{ file: workQueue, find: '} else mayHaveMore = true;', replace: '}' },
    tests: ofQueue,
    why: 'What was announced while there was no room is claimed when there is.',
  },
  {
    name: 'ordered-delivery-handed-over',
    file: 'server/src/notify/events/hand-over.ts',
    find: 'where delivery_id in (select id from fanned_out)',
    replace: 'where true',
    tests: [webhooks('hand-over')],
    why: 'A delivery that waits for an earlier one is not sent before it.',
  },
  {
    name: 'taken-event-waits-for-its-position',
    file: 'server/src/notify/events/hand-over.ts',
    find: 'for (const follow of followers) follow();',
    replace: 'void followers;',
    tests: ['server/src/notify/events/hand-over.test.ts'],
    why: 'An event that is sent from memory gets its position at once.',
  },
  {
    name: 'partly-taken-event-not-announced',
    file: taker,
    find: '!take(committed, queued)).length === 0',
    replace: '!take(committed, queued)).length < committed.deliveries.length',
    tests: tests,
    why: 'What the process does not send itself, others hear of.',
  },
  {
    name: 'order-that-was-given-back-run',
    file: seats,
    find: 'if (kept.has(order)) place',
    replace: 'if (kept.size > 0) place',
    tests: ofSeats,
    why: 'An order that could not be prepared is another worker’s.',
  },
  {
    name: 'place-of-an-abandoned-order-lost',
    file: seats,
    find: '        place.release();\n        free(order',
    replace: '        free(order',
    tests: ofSeats,
    why: 'A worker has its room back.',
  },
  {
    name: 'abandoned-order-freed-after-its-lease',
    file: seats,
    find: 'leftMs > retryMs && setTimeout',
    replace: 'leftMs > 0 && setTimeout',
    tests: ofSeats,
    why: 'After its lease an order may be another worker’s.',
  },
  {
    name: 'freed-order-not-claimed',
    file: seats,
    find: 'isFree && wake()',
    replace: 'isFree',
    tests: ofSeats,
    why: 'An order that is free again runs at once.',
  },
  {
    name: 'failed-preparation-keeps-places',
    file: seats,
    find: '.map(({ order }) => order)).catch(none)',
    replace: '.map(({ order }) => order))',
    tests: ofSeats,
    why: 'A database that fails does not cost a worker its room.',
  },
  {
    name: 'failed-stock-keeps-the-place',
    file: seats,
    find: '(await stock?.take(db, 1).catch(none))',
    replace: '(await stock?.take(db, 1))',
    tests: ofSeats,
    why: 'A database that fails does not cost a worker its room.',
  },
  {
    name: 'one-order-planned-each-time',
    file: 'server/src/platform/db/rows.ts',
    find: `\`(select \${hidden})\``,
    replace: 'hidden',
    tests: [api('batches')],
    why: 'PostgreSQL keeps the plan of a statement that gets one row at a time.',
  },
];
