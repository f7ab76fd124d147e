import pg from 'pg';
import { expect, test } from 'vitest';
import { internalCause, lastErrorOf } from './last-error.ts';

test('the operator is told what the account is not: the host, the setting and the network’s own code', () => {
  const upstream = { subject_code: '8.2.1', reason_code: '1.2' };
  const reason = {
    code: 'declined',
    message: 'The network refused.',
    detail: 'smdp.example refused.',
  } as const;
  expect(lastErrorOf('download', { ...reason, host: 'smdp.example', upstream }, 5)).toEqual({
    ...{ step: 'download', code: 'declined', message: 'smdp.example refused.', at: 5 },
    ...{ upstream, network: 'smdp.example' },
  });
  const { code, message } = reason;
  expect(lastErrorOf('download', { code, message }, 5)).toEqual({ step: 'download', code, message, at: 5 });
});

test('of an error of ours, the kind is told, and nothing that a statement quotes', () => {
  const error = new pg.DatabaseError('value too long: "Ms. Example"', 1, 'error');
  error.code = '22001';
  expect(internalCause(error, 5)).toEqual({ step: null, code: 'internal', message: 'error: 22001', at: 5 });
});
