import { expect, test } from 'vitest';
import { describeProfileFailure } from './profile-failures.ts';

const failed = (message: string) => {
  const statusCodeData = { subjectCode: '8.2.6', reasonCode: '3.8', message };
  return { status: 'Failed', statusCodeData } as const;
};

test('the SM-DP+’s words about a device are quoted without an activation code, and not whole', () => {
  const { error } = describeProfileFailure('download', 3, failed('LPA:1$smdp.example$SECRET-1 was used'));
  expect(error.upstream).toEqual({
    ...{ notification_point_id: '3', subject_code: '8.2.6', reason_code: '3.8' },
    message: '[redacted] was used',
  });
  const long = describeProfileFailure('install', 4, failed(`${'x'.repeat(5_000)}\u0000`));
  expect(long.error.upstream?.['message']).toMatch(/^x{100,250}…$/);
});
