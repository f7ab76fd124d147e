import { expect, test } from 'vitest';
import { createChangeRunner } from './run-change.ts';

// Else one that is sent during a pause would use up its attempts, and leave the profile reserved.
test('a termination waits out a pause of the network, and what the core does is not held up by it', () => {
  const isPausable = (change: 'suspend' | 'resume' | 'terminate') =>
    createChangeRunner(change).isPausable === true;
  expect([isPausable('terminate'), isPausable('suspend'), isPausable('resume')]).toEqual([
    true,
    false,
    false,
  ]);
});
