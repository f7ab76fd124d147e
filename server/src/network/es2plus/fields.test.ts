import { expect, test } from 'vitest';
import {
  eid,
  executionStatus,
  finalProfileStatus,
  flag,
  fqdn,
  iccid,
  type Kind,
  matchingId,
  notificationPointId,
  text,
  timestamp,
} from './fields.ts';

const digits = '1234567890'.repeat(4);

test.each<[string, Kind<unknown>, unknown[], unknown[]]>([
  [
    'an ICCID',
    iccid,
    [digits.slice(0, 18), digits.slice(0, 20)],
    [
      digits.slice(0, 17),
      digits.slice(0, 21),
      `${digits.slice(0, 17)}F`,
      ` ${digits.slice(0, 18)}`,
      8_999_901,
    ],
  ],
  [
    'an EID',
    eid,
    [digits.slice(0, 32)],
    [digits.slice(0, 31), digits.slice(0, 33), `${digits.slice(0, 31)}A`],
  ],
  ['a matching id', matchingId, ['A-1', 'A'.repeat(255)], ['a', 'A_1', 'A'.repeat(256), 'A\n']],
  ['a text', text, ['é', 'x'.repeat(255)], ['x'.repeat(256), 'a\u0000', 'a\n', 5]],
  ['a flag', flag, [true, false], ['true', 0, 1]],
  ['a final status', finalProfileStatus, ['Available', 'Unavailable'], ['available', 'Released']],
  ['a domain name', fqdn, ['smdp.example'], ['smdp', 'smdp..', 5, '1.2.3.4']],
  ['a notification point', notificationPointId, [0, 4, 102], [-1, 1.5, '-1', '1000000', '4x', true]],
])('%s is taken as it is, and nothing that is not one', (_, kind, good, bad) => {
  for (const value of good) expect(kind.read(value), String(value)).toBe(value);
  for (const value of bad) expect(kind.read(value), String(value)).toBeUndefined();
});

test('an ICCID of 18 digits may be padded twice, and a point may be sent as text', () => {
  expect(iccid.read(`${digits.slice(0, 18)}FF`)).toBe(digits.slice(0, 18));
  expect(iccid.read(`${digits.slice(0, 18)}FFF`)).toBeUndefined();
  expect(notificationPointId.read('999999')).toBe(999_999);
});

test.each([
  ['2024-03-06T08:10', '2024-03-06T08:10:00.000Z'],
  ['2024-03-06T08:10:41.5Z', '2024-03-06T08:10:41.500Z'],
  ['2024-03-06T08:10:41,25Z', '2024-03-06T08:10:41.250Z'],
  ['2024-03-06T08:10:41.123456789Z', '2024-03-06T08:10:41.123Z'],
  ['2024-03-06T09:10:41+01', '2024-03-06T08:10:41.000Z'],
  ['2024-03-06T07:40:41-00:30', '2024-03-06T08:10:41.000Z'],
  ['2024-03-06T07:40:41-0030', '2024-03-06T08:10:41.000Z'],
  ['2024-03-06t08:10:41z', '2024-03-06T08:10:41.000Z'],
  ['1709712641123', '2024-03-06T08:10:41.123Z'],
])('the time %s is read with its fraction and its offset', (given, time) => {
  expect(timestamp.read(given)).toEqual(new Date(time));
});

test.each(['170971264', '17097126411', '2024-03-06', '2024-03-06T08:10:41.Z', '2024-03-06T08:10:41+1'])(
  '%s is no time',
  (given) => {
    expect(timestamp.read(given)).toBeUndefined();
  },
);

test('a status is kept with its codes and words, and without those that are none', () => {
  const data = { subjectCode: '8.2.6', reasonCode: '3.8', subjectIdentifier: 'x', message: 'no' };
  for (const status of ['Executed-Success', 'Executed-WithWarning', 'Failed', 'Expired']) {
    expect(executionStatus.read({ status })).toEqual({ status });
    expect(executionStatus.read({ status, statusCodeData: data })).toEqual({ status, statusCodeData: data });
  }
  const codes = (subjectCode: unknown, reasonCode: unknown, more = {}) =>
    executionStatus.read({ status: 'Failed', statusCodeData: { subjectCode, reasonCode, ...more } })
      ?.statusCodeData;
  expect(codes('8.2.6', '3.8', { message: 5, subjectIdentifier: {} })).toEqual({
    ...{ subjectCode: '8.2.6', reasonCode: '3.8' },
  });
  expect(codes('1.2.3.4.5.6', '999')).toBeDefined();
  for (const wrong of ['1.2.3.4.5.6.7', '1000', '8.', '.8', 8, undefined]) {
    expect(codes(wrong, '3.8'), String(wrong)).toBeUndefined();
    expect(codes('8.2.6', wrong), String(wrong)).toBeUndefined();
  }
  expect(executionStatus.read({ status: 'Failed', statusCodeData: [] })).toEqual({ status: 'Failed' });
  for (const wrong of [null, [], 'Failed', { status: ['Failed'] }])
    expect(executionStatus.read(wrong)).toBeUndefined();
});
