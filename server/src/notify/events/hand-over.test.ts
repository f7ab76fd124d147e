import { expect, test } from 'vitest';
import { type Committed, createHandOver, type QueuedDelivery, splitQueued } from './hand-over.ts';
import type { NewEvent } from './new-event.ts';

test('an event of which nothing is left to send is followed at once, and any other is announced to all', () => {
  const heard: unknown[] = [];
  const handOver = createHandOver({ announce: (...signal) => void heard.push(signal) });
  const committed = { event: { accountUuid: 'acct' } } as Committed;
  const announced = () => {
    handOver.announce(committed);
    return heard.splice(0);
  };
  const endFollowing = handOver.onTaken(() => void heard.push('followed'));
  expect(announced()).toEqual([['deliveries', 'acct']]);
  const ends = [handOver.onCommit(() => false), handOver.onCommit((given) => given === committed)];
  expect(announced()).toEqual(['followed']);
  ends[1]?.();
  expect(announced()).toEqual([['deliveries', 'acct']]);
  handOver.onCommit(() => true);
  endFollowing();
  expect(announced()).toEqual([]);
});

test('each event gets all of its deliveries, and the other rows stay the statement’s own', () => {
  const uuid = (n: number) => `00000000-0000-0000-0000-00000000000${n}`;
  const queued = (event: number, endpoint: number): QueuedDelivery => ({
    event_id: uuid(event),
    delivery_id: uuid(event + endpoint),
    endpoint_id: uuid(endpoint),
    endpoint_version: '7',
  });
  const [first, other, second] = [queued(1, 3), queued(2, 3), queued(1, 4)];
  const own = { n: 1, event_id: null as unknown as string } as QueuedDelivery & { n: number };
  const rows = [own, first, other, second] as (QueuedDelivery & { n: number })[];
  const split = splitQueued<{ n: number }>(rows);
  expect(split.own).toEqual([own]);
  const deliveriesOf = (n: number) => split.deliveriesOf({ uuid: uuid(n).replaceAll('-', '') } as NewEvent);
  expect([deliveriesOf(1), deliveriesOf(2), deliveriesOf(3)]).toEqual([[first, second], [other], []]);
});
