import { type Mutant, webhooks } from './mutant.ts';

const names = 'server/src/notify/webhooks/names';
const dns = [`${names}/ask-dns.test.ts`];
const sender = 'server/src/notify/webhooks/sender';
const claimer = `${sender}/claimer.ts`;
const claims = [`${sender}/claimer.test.ts`];
const guard = 'server/src/notify/webhooks/guard';
const webhook = 'server/src/notify/webhooks';
const ordered = `${webhook}/ordered`;
const attempt = `${sender}/attempt.ts`;
const attempts = [`${sender}/attempt.test.ts`];

/** Parts of the sender: look-ups, claims and attempts. */
export const senderPartMutants: readonly Mutant[] = [
  {
    name: 'enabled-endpoint-waits-for-its-pause-1',
    file: `${webhook}/endpoints/update.ts`,
    find: "status === 'enabled' && announceDeliveries(ctx, { endpointUuid: row.id })",
    replace: 'void announceDeliveries',
    tests: [webhooks('deliveries-api')],
    why: 'Senders are told of an endpoint that an update enables.',
  },
  {
    name: 'changed-endpoint-announced',
    file: `${webhook}/endpoints/update.ts`,
    find: "status === 'enabled' && announceDeliveries(",
    replace: 'announceDeliveries(',
    tests: [webhooks('deliveries-api')],
    why: 'Senders are told of an endpoint only if it is enabled.',
  },
  {
    name: 'enabled-endpoint-waits-for-its-pause-2',
    file: `${webhook}/endpoints/enable.ts`,
    find: 'announceDeliveries(ctx, { endpointUuid: row.id })',
    replace: 'void announceDeliveries',
    tests: [webhooks('deliveries-api')],
    why: 'Senders are told of an endpoint that is enabled.',
  },
  {
    name: 'replays-wait-for-a-poll',
    file: `${webhook}/deliveries/replay.ts`,
    find: 'changes: { ...body, delivery_count: count },\n    afterCommit: () => announceDeliveries(ctx),',
    replace: 'changes: { ...body, delivery_count: count },',
    tests: [webhooks('deliveries-api')],
    why: 'Senders are told of several events that are replayed.',
  },
  {
    name: 'event-of-the-end-recovered',
    file: `${webhook}/recoveries/recover.ts`,
    find: 'return lowestUuidAt(until * 1_000);',
    replace: 'return highestUuidAt(until * 1_000);',
    tests: [webhooks('undelivered')],
    why: 'A recovery until a time finds no event of that moment.',
  },
];
