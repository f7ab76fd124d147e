import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  DatabaseUnavailable,
  isReadOnlyError,
  isServerGone,
  isTimeout,
  isUnavailable,
  wasRefused,
} from './unavailable.ts';

const refusal = (code: string) => Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });
const socketError = (code: string) => Object.assign(new Error(code), { code });

describe('an error of PostgreSQL', () => {
  test.each([
    ['a lost connection', '08006'],
    ['a database that is not there yet', '3D000'],
    ['too many connections', '53300'],
    ['a full disk', '53100'],
    ['a shutdown', '57P01'],
    ['a crash', '57P02'],
    ['a start', '57P03'],
    ['a statement that took too long', '57014'],
    ['a serialization failure', '40001'],
    ['a deadlock', '40P01'],
    ['a server that was demoted', '25006'],
    ['a transaction that was idle for too long', '25P03'],
    ['a lock that was not free', '55P03'],
  ])('is worth a retry after %s', (_, code) => {
    expect(isUnavailable(refusal(code))).toBe(true);
  });

  test.each(['23505', '42P01', '22021', '28P01', '42501'])('is not worth a retry if it is %s', (code) => {
    expect(isUnavailable(refusal(code))).toBe(false);
  });

  test.each([
    ['40001', true],
    ['40P01', true],
    ['23505', true],
    ['57014', false],
    ['57P01', false],
    ['08006', false],
  ])('says whether a statement certainly had no effect: %s, %s', (code, refused) => {
    expect(wasRefused(refusal(code))).toBe(refused);
  });
});

test.each<[why: string, error: unknown, isGone: boolean]>([
  ['a refused connection', socketError('ECONNREFUSED'), true],
  ['a shutdown', refusal('57P01'), true],
  ['a lost connection', new Error('Connection terminated unexpectedly'), true],
  ['a full pool', new Error('timeout exceeded when trying to connect'), false],
  ['a pool that was closed', new Error('Cannot use a pool after calling end on the pool'), false],
  ['a statement that took too long', refusal('57014'), false],
  ['a bug', new TypeError('undefined is not a function'), false],
])('another server is looked for only if this one is gone: %s', (_, error, isGone) => {
  expect(isServerGone(error)).toBe(isGone);
});

test('what is lost on the way is unavailable and may have had an effect; a bug is not', () => {
  for (const error of [
    socketError('ECONNRESET'),
    new DatabaseUnavailable('no server accepts writes'),
    new Error('Query read timeout'),
    new Error('timeout exceeded when trying to connect'),
  ])
    expect([isUnavailable(error), wasRefused(error)]).toEqual([true, false]);
  expect(isUnavailable(new TypeError('undefined is not a function'))).toBe(false);
  expect(isUnavailable('a text')).toBe(false);
});

test('only PostgreSQL says that its server takes no writes, or that a statement took too long', () => {
  expect([refusal('25006'), refusal('57014'), socketError('25006')].map(isReadOnlyError)).toEqual([
    ...[true, false, false],
  ]);
  expect([refusal('57014'), refusal('25006'), socketError('57014')].map(isTimeout)).toEqual([
    ...[true, false, false],
  ]);
});

test.each([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
])('a server that cannot be reached may be back soon: %s', (code) => {
  expect([isUnavailable(socketError(code)), isServerGone(socketError(code))]).toEqual([true, true]);
});

test.each([
  ['timeout exceeded when trying to connect', false],
  ['Connection terminated due to connection timeout', true],
  ['Connection terminated', true],
  ['timeout expired', true],
  ['Query read timeout', true],
  ['Client has encountered a connection error and is not queryable', true],
  ['Client was closed and is not queryable', true],
  ['Connection ended unexpectedly', true],
  ['Cannot use a pool after calling end on the pool', false],
])('what the driver says of a connection is worth a retry: %s', (message, isGone) => {
  expect([isUnavailable(new Error(message)), isServerGone(new Error(message))]).toEqual([true, isGone]);
});

test.each([
  ['08001', true],
  ['57P01', true],
  ['57P02', true],
  ['57P03', true],
  ['57P04', true],
  ['57P05', false],
  ['53300', false],
  ['3D000', false],
  ['40001', false],
])('a server that says %s is left for another one, or not', (code, isGone) => {
  expect(isServerGone(refusal(code))).toBe(isGone);
});
