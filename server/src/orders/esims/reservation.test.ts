import { profileStates } from '@simplane/contract';
import { expect, test } from 'vitest';
import type { Network } from '../../network/port.ts';
import { type ClaimedExecution, sentFlag } from '../executions/runner.ts';
import { nextProfileState, wasDownloaded } from './profile-state.ts';
import { isUnconfirmed, mayBeReserved, mayHaveReserved } from './reservation.ts';

const sent = { [sentFlag('order')]: true };

test.each([
  ['nothing was requested', {}, false],
  ['the order was sent and its answer is unknown', sent, true],
  ['the network said that it was not sent after all', { [sentFlag('order')]: false }, false],
  ['the network has ordered it', { is_ordered: true }, true],
  ['it was canceled', { is_ordered: true, is_closed: true }, false],
  ['it was sent and canceled', { ...sent, is_closed: true }, false],
])('whether the network may hold a profile when %s: %j → %j', (_, progress, held) => {
  expect(mayBeReserved(progress)).toBe(held);
});

test.each([
  ['a first attempt', { fence: 1, progress: {} }, { forgetful: false, other: false }],
  ['a later attempt', { fence: 2, progress: {} }, { forgetful: false, other: true }],
  [
    'a later attempt, after a cancel',
    { fence: 2, progress: { is_closed: true } },
    { forgetful: false, other: false },
  ],
  ['an attempt that stored its order', { fence: 1, progress: sent }, { forgetful: true, other: true }],
])('%s may have reserved a profile, by whether the network forgets calls', (_, claimed, expected) => {
  const at = (forgetsCalls: boolean) =>
    mayHaveReserved({ forgetsCalls } as Network, claimed as unknown as ClaimedExecution);
  expect({ forgetful: at(true), other: at(false) }).toEqual(expected);
});

test.each([
  [{}, false],
  [{ is_ordered: true }, false],
  [{ is_reserved: true }, true],
  [{ is_reserved: true, is_confirmed: true }, false],
  [{ is_confirmed: true }, false],
] as const)(
  'a profile is ours without proof only while it is reserved and not confirmed: %j → %j',
  (progress, expected) => {
    expect(isUnconfirmed(progress)).toBe(expected);
  },
);

test('a profile counts as downloaded in every state from its download on', () => {
  expect(profileStates.filter(wasDownloaded)).toEqual([
    'downloaded',
    'installed',
    'enabled',
    'disabled',
    'deleted',
  ]);
});

test('any report replaces a state that we set ourselves, even an earlier report', () => {
  for (const state of ['unknown', 'released'] as const) {
    const known = { state, at: new Date(5_000) };
    expect(nextProfileState(known, { state: 'downloaded', at: new Date(1_000) })?.state).toBe('downloaded');
  }
});
