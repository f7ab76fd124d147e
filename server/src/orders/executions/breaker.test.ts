import { expect, test } from 'vitest';
import type { Reply } from '../../network/port.ts';
import { createBreaker } from './breaker.ts';

const reason = { code: 'network_unavailable', message: 'x' } as const;
const down: Reply<never> = { kind: 'failed', reason, isDown: true };
const lost: Reply<never> = { kind: 'failed', reason };
const refused: Reply<never> = { kind: 'refused', reason };
const unknown: Reply<never> = { kind: 'refused', reason, isDown: true };
const done: Reply<object> = { kind: 'done', result: {} };
const local: Reply<object>[] = [
  { kind: 'done', result: {}, isLocal: true },
  { kind: 'refused', reason, isLocal: true },
];

function start(afterFailures = 3, pauseMs = 10_000) {
  let now = 0;
  const changes: (number | null)[] = [];
  const breaker = createBreaker({
    afterFailures,
    pauseMs,
    nowMs: () => now,
    onChange: (ms) => changes.push(ms),
  });
  const call = (reply: Reply<unknown>) => {
    const permit = breaker.permit();
    permit?.end(reply);
    permit?.release();
    return permit !== null;
  };
  return {
    breaker,
    changes,
    call,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

test('pauses after as many gateway errors in a row, and not if an answer came in between', () => {
  const { call, changes } = start();
  for (const reply of [down, down, done, down, unknown, refused, down, down]) call(reply);
  expect(changes).toEqual([]);
  call(lost); // neither
  expect(call(unknown)).toBe(true);
  expect(changes).toEqual([10_000]);
  expect(call(done)).toBe(false);
});

test('never pauses if it is turned off', () => {
  const { call, changes } = start(0);
  for (let i = 0; i < 100; i++) call(down);
  expect(changes).toEqual([]);
});

test('lets one call through after the pause, whose answer ends it', () => {
  const { breaker, call, wait, changes } = start(1);
  call(down);
  wait(9_999);
  expect([breaker.isPaused(), breaker.permit()]).toEqual([true, null]);
  wait(1);
  const probe = breaker.permit();
  expect([probe === null, breaker.permit()]).toEqual([false, null]);
  probe?.end(refused);
  probe?.release();
  expect([breaker.isPaused(), call(done), changes]).toEqual([false, true, [10_000, null]]);
});

test.each([down, lost, unknown])(
  'a failed probe begins a longer pause, up to six times the first',
  (reply) => {
    const { call, wait, changes } = start(1);
    call(down);
    for (let i = 0; i < 5; i++) {
      wait(60_000);
      expect(call(reply)).toBe(true);
    }
    expect(changes).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
    wait(60_000);
    call(done);
    call(down);
    expect(changes.slice(-2)).toEqual([null, 10_000]);
  },
);

test('a network that cannot be reached is asked again every two seconds, which costs it nothing', () => {
  const { call, wait, changes } = start(1);
  const unreached: Reply<never> = {
    kind: 'failed',
    reason,
    hadNoEffect: true,
    isDown: true,
    isUnreached: true,
  };
  call(unreached);
  for (let i = 0; i < 3; i++) {
    wait(2_000);
    expect(call(unreached)).toBe(true);
  }
  expect(changes).toEqual([2_000, 2_000, 2_000, 2_000]);
  wait(2_000);
  call(down);
  expect(changes.at(-1)).toBe(10_000);
});

test('answers of calls made before the pause neither end nor extend it', () => {
  const { breaker, call, wait, changes } = start(1);
  const [early, late] = [breaker.permit(), breaker.permit()];
  call(down);
  early?.end(done);
  late?.end(down);
  wait(5_000);
  expect([breaker.isPaused(), breaker.waitMs(), changes]).toEqual([true, 5_000, [10_000]]);
});

test('a probe that was not made leaves room for another', () => {
  const { breaker, call, wait } = start(1);
  call(down);
  wait(10_000);
  breaker.permit()?.release();
  expect(call(done)).toBe(true);
  expect(breaker.isPaused()).toBe(false);
});

test('claims one execution a second for the probe, and none before the pause is over or while it runs', () => {
  const { breaker, call, wait } = start(1);
  expect(breaker.mayClaimProbe()).toBe(false);
  call(down);
  wait(9_999);
  expect(breaker.mayClaimProbe()).toBe(false);
  wait(1);
  expect([breaker.mayClaimProbe(), breaker.mayClaimProbe()]).toEqual([true, false]);
  wait(1_000);
  expect(breaker.mayClaimProbe()).toBe(true);
  breaker.permit();
  wait(1_000);
  expect([breaker.mayClaimProbe(), breaker.waitMs()]).toEqual([false, 1_000]);
});

test.each(local)('a reply given without asking the network neither counts nor ends the pause', (reply) => {
  const { breaker, call, wait, changes } = start(2);
  for (const each of [down, reply, down]) call(each);
  expect(changes).toEqual([10_000]);
  wait(10_000);
  expect([breaker.mayClaimProbe(), call(reply)]).toEqual([true, true]);
  expect([breaker.isPaused(), breaker.mayClaimProbe(), changes]).toEqual([true, true, [10_000]]);
  call(done);
  expect(changes).toEqual([10_000, null]);
});

test('a network that cannot be reached is never paused for longer than one that fails', () => {
  const { call, changes } = start(1, 500);
  call({ ...down, hadNoEffect: true, isUnreached: true });
  expect(changes).toEqual([500]);
});
