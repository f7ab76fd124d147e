import { expect, test } from 'vitest';
import type { PendingChange, ServedEsim } from './served-esim.ts';
import { statusWanted } from './write.ts';

const wanted = (
  status: ServedEsim['status'],
  change: PendingChange['change'] | null,
  resumes_to: ServedEsim['resumes_to'] = null,
) =>
  statusWanted({ status, resumes_to, pending_change: change && { change, execution_id: 'x', version: 1 } });

test('the core follows the status after the change that waits for it, and a termination whatever waits', () => {
  expect(wanted('active', null)).toBe('active');
  expect(wanted('active', 'suspend')).toBe('suspended');
  expect(wanted('terminated', 'suspend')).toBe('terminated');
  expect(wanted('suspended', 'resume', 'active')).toBe('active');
  expect(wanted('suspended', 'resume')).toBe('suspended');
  expect(wanted('terminated', 'resume', 'active')).toBe('terminated');
  expect(wanted('suspended', 'terminate', 'active')).toBe('suspended');
});
