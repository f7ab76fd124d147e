import { expect, test } from 'vitest';
import { createPeerState, type PeerState } from './peer-state.ts';

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

test('a call that was answered as it should be keeps the last error, and a certificate’s end is reported', () => {
  let nowMs = 0;
  const state = createPeerState('smdp', 'smdp.example.com', () => nowMs);
  expect(state.report()).toMatchObject({
    latency_ms: null,
    tried_ms_ago: null,
    last_error: null,
    peer_ends_at: null,
  });
  state.answered(4.6, 'HTTP 404');
  nowMs = 1_000;
  state.connected(5.4);
  state.answered(7.4);
  state.setPeerEnd(new Date('2026-12-01T00:00:00Z'));
  expect(state.report()).toEqual({
    ...{ kind: 'smdp', host: 'smdp.example.com', reachable: true, latency_ms: 7, tried_ms_ago: 0 },
    last_error: { message: 'HTTP 404', ms_ago: 1_000 },
    peer_ends_at: '2026-12-01T00:00:00.000Z',
  });
});

test.each([
  ['an answer', (state: PeerState) => state.answered(1)],
  ['a connection that fails', (state: PeerState) => state.failed('ECONNREFUSED')],
])('after %s, a connection shows again that a system works', (_, happen) => {
  const state = createPeerState('smdp', 'smdp.example.com', () => 0);
  state.failed('HTTP 503', { isGateway: true });
  happen(state);
  state.connected(9);
  expect(state.report()).toMatchObject({ reachable: true, latency_ms: 9 });
});
