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

test.each([
  ['device_memory_full', ['8.1/4.8']],
  ['device_refused', ['8.1.1/3.8']],
  [
    'device_not_trusted',
    ['8.1/6.1', '8.1.2/6.1', '8.1.2/6.3', '8.1.3/6.1', '8.1.3/6.3', '8.8.2/3.1', '8.8.4/3.7', '8.11.1/3.9'],
  ],
  ['profile_not_available', ['8.2/1.2', '8.2/3.7']],
  ['device_not_eligible', ['8.2.5/4.3']],
  ['activation_code_refused', ['8.2.6/3.8']],
  ['confirmation_code_refused', ['8.2.7/2.2', '8.2.7/3.8', '8.2.7/6.4']],
  ['download_expired', ['8.8.5/4.10', '8.8.5/6.4']],
  ['other', ['9.9/9.9']],
])('a program is told %s for what the standard calls %j', (code, codes) => {
  for (const one of codes) {
    const [subjectCode = '', reasonCode = ''] = one.split('/');
    const statusCodeData = { subjectCode, reasonCode };
    const { error } = describeProfileFailure('download', 3, { status: 'Failed', statusCodeData });
    expect([one, error.code]).toEqual([one, code]);
    expect(error.message).toContain(`The SM-DP+ reported ${one} (`);
  }
});
