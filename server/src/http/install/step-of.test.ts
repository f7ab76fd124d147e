import { expect, test } from 'vitest';
import { canInstall, stepOf } from './step-of.ts';

type Seen = Parameters<typeof stepOf>[0];

test.each<[Seen['status'], Seen['profile_state'], ReturnType<typeof stepOf>]>([
  ['provisioned', 'released', 'ready'],
  ['provisioned', 'unknown', 'ready'],
  ['provisioned', 'downloaded', 'downloaded'],
  ['provisioned', 'installed', 'installed'],
  ['provisioned', 'enabled', 'installed'],
  ['provisioned', 'disabled', 'installed'],
  ['active', 'enabled', 'online'],
  // What the phone did to the profile afterwards comes first.
  ['provisioned', 'error', 'failed'],
  ['active', 'error', 'failed'],
  ['active', 'deleted', 'deleted'],
  // Whatever the phone did, it will not work.
  ['suspended', 'enabled', 'paused'],
  ['suspended', 'deleted', 'paused'],
  ['suspended', 'error', 'paused'],
])('an eSIM that is %s and %s is %s', (status, state, step) => {
  expect(stepOf({ status, profile_state: state })).toBe(step);
});

test('the code is of use before a phone has the profile, and after a failure', () => {
  const steps = ['ready', 'failed', 'downloaded', 'installed', 'online', 'deleted', 'paused'] as const;
  expect(steps.filter(canInstall)).toEqual(['ready', 'failed']);
});
