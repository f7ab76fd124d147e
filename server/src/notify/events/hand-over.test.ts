import { expect, test } from 'vitest';
import { type Committed, createHandOver } from './hand-over.ts';

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
