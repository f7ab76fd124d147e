import { type Mutant, webhooks } from './mutant.ts';

const nextInOrder = 'server/src/notify/webhooks/ordered/sql.ts';

/** Mutants of ordered delivery: what a delivery waits for, and what ends the wait. */
export const orderedMutants: Mutant[] = [
  {
    name: 'ordered-delivery-sent-at-once',
    file: 'server/src/notify/events/emit.ts',
    find: "endpoint.ordering = 'esim'",
    replace: "endpoint.ordering = ''",
    tests: [webhooks('ordered')],
    why: 'An event waits for the earlier one of its eSIM.',
  },
  {
    name: 'delivery-overtakes-an-unplaced-one',
    file: nextInOrder,
    find: 'where unplaced.account_id =',
    replace: 'where false and unplaced.account_id =',
    tests: [webhooks('ordered-guards')],
    why: 'No delivery overtakes one whose position is not stored yet.',
  },
  {
    name: 'delivery-overtakes-a-recovery',
    file: nextInOrder,
    find: 'finished_at is null',
    replace: 'finished_at is null and false',
    tests: [webhooks('ordered')],
    why: 'Newer events wait until a recovery has found the older ones.',
  },
  {
    name: 'promotion-for-a-disabled-endpoint',
    file: nextInOrder,
    find: "= 'enabled'",
    replace: "<> ''",
    tests: [webhooks('ordered-guards')],
    why: 'Nothing is sent to a disabled endpoint.',
  },
  {
    name: 'second-worker-takes-the-next-delivery',
    file: 'server/src/notify/webhooks/ordered/sql.ts',
    find: '    for update) blocked',
    replace: '    for update skip locked) blocked',
    tests: [webhooks('ordered-guards')],
    why: 'Two workers at once move one delivery of an eSIM to the queue.',
  },
  {
    name: 'next-delivery-left-to-the-chore',
    file: 'server/src/notify/webhooks/sender/record-result.ts',
    find: "if (settled.outcome !== 'pending') await sendNext(delivery);",
    replace: '',
    tests: [webhooks('ordered')],
    why: 'The end of a delivery sends the next one.',
  },
  {
    name: 'skipped-delivery-holds-up-the-next',
    file: 'server/src/notify/webhooks/deliveries/skip.ts',
    find: 'promoteAndAnnounce(ctx, unblocked)',
    replace: 'promoteAndAnnounce(ctx, [])',
    tests: [webhooks('ordered')],
    why: 'After a skip, the next delivery is sent.',
  },
  {
    name: 'retried-delivery-keeps-waiting',
    file: 'server/src/notify/webhooks/deliveries/retry.ts',
    find: '(await unblockDelivery(tx, ctx.account.uuid, row.id))',
    replace: 'false',
    tests: [webhooks('ordered')],
    why: 'A retry does not wait for other deliveries.',
  },
];
