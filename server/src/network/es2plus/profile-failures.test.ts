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

test('without known codes, the standard’s points still tell what failed', () => {
  const codeAt = (point: number) =>
    describeProfileFailure('download', point, { status: 'Failed' }).error.code;
  expect([1, 2, 3].map(codeAt)).toEqual(['device_not_eligible', 'confirmation_code_refused', 'other']);
});

test('a program can tell that an eSIM was installed on another device than the one that it was ordered for', () => {
  const statusCodeData = { subjectCode: '8.1.1', reasonCode: '3.8' };
  const { error } = describeProfileFailure('download', 3, { status: 'Failed', statusCodeData });
  expect(error.code).toBe('device_refused');
});
