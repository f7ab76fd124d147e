import { expect, test } from 'vitest';
import { isWritable } from './session.ts';

const session = { isDirect: true, isStandby: false, isReadOnly: false };

test('a standby takes no writes, whatever the address asks for; `primary` takes a primary that is read-only for now', () => {
  const targets = ['read-write', 'primary'] as const;
  const writable = (given: Partial<typeof session>) =>
    targets.map((target) => isWritable({ ...session, ...given }, target));
  expect(writable({})).toEqual([true, true]);
  expect(writable({ isStandby: true, isReadOnly: true })).toEqual([false, false]);
  expect(writable({ isReadOnly: true })).toEqual([false, true]);
});
