import { expect, test } from 'vitest';
import { createPeerState } from './peer-state.ts';

test('a connection does not show that a system works whose gateway has just reported it as down; a call does', () => {
  let nowMs = 0;
  const state = createPeerState('smdp', 'smdp.example.com', () => nowMs);
  const isReachable = () => state.report().reachable;
  expect(isReachable()).toBeNull();
  state.connected(5);
  expect(isReachable()).toBe(true);
  state.failed('ECONNREFUSED');
  state.connected(5);
  expect(isReachable()).toBe(true);
  state.failed('HTTP 503', { isGateway: true });
  nowMs = 60_000;
  state.connected(5);
  expect(state.report()).toMatchObject({
    reachable: false,
    tried_ms_ago: 60_000,
    last_error: { message: 'HTTP 503', ms_ago: 60_000 },
  });
  state.answered(7);
  expect(state.report()).toMatchObject({ reachable: true, latency_ms: 7 });
  state.failed('HTTP 502', { isGateway: true });
  nowMs += 90_000;
  state.connected(5);
  expect(isReachable()).toBe(true);
});

test('what is stored of a system’s error is bounded', () => {
  const state = createPeerState('core', 'core.example.com');
  state.failed('x'.repeat(5_000));
  expect(state.report().last_error?.message).toBe('x'.repeat(300));
});
