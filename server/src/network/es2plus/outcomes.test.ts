import { expect, test } from 'vitest';
import { describeFailure, describeRemedy, isGatewayError, judgeStatus } from './outcomes.ts';

const about = { name: 'downloadOrder', callId: 'call-1', host: 'smdp.example', secrets: [] } as const;

test.each([
  [300, 'a redirect, which is never followed', 'correct SIMPLANE_ES2_URL'],
  [399, 'a redirect, which is never followed', 'correct SIMPLANE_ES2_URL'],
  [401, 'we are not authorized', 'have the certificate in SIMPLANE_ES2_CERT allowed'],
  [403, 'we are not authorized', 'have the certificate in SIMPLANE_ES2_CERT allowed'],
  [404, 'no ES2+ at this address', 'correct SIMPLANE_ES2_URL'],
])(
  'HTTP %i is explained to the account, and only the operator learns the host and the setting',
  (status, says, remedy) => {
    const { message, detail, upstream } = describeFailure({ status }, about);
    expect(message).toContain(`HTTP ${status}: ${says}`);
    expect(message).not.toMatch(/SIMPLANE|smdp\.example/);
    expect(detail).toMatch(/^smdp\.example: /);
    expect(detail).toContain(`What to do: ${remedy}`);
    expect(upstream).toMatchObject({ status: String(status), function_call_identifier: 'call-1' });
    expect(describeRemedy({ status })).toContain(remedy);
  },
);

test.each([299, 400, 402, 405, 500])('of HTTP %i nobody knows what to do', (status) => {
  expect(describeRemedy({ status })).toBeNull();
  expect(describeFailure({ status }, about).message).toBe(`The SM-DP+ answered with HTTP ${status}.`);
});

test('without an answer, the operator learns the cause and the setting', () => {
  const { message, detail } = describeFailure({ why: 'connection', error: 'ECONNREFUSED: refused' }, about);
  expect(message).toBe('The connection to the SM-DP+ failed.');
  expect(detail).toMatch(/^smdp\.example: .* What to do: check SIMPLANE_ES2_URL.*\(ECONNREFUSED: refused\)$/);
  expect(describeRemedy('timeout')).toBeNull();
});

test('an ICCID that cannot be used is quoted, and one that was sent as a number as rounded', () => {
  const iccidOf = (json: unknown) => describeFailure({ unreadable: 'bad', json }, about).upstream?.['iccid'];
  expect(iccidOf({ iccid: 8_999_901 })).toBe('8999901 (rounded, since it was sent as a number)');
  expect(iccidOf({ iccid: '8999901000000000013F' })).toBe('8999901000000000013');
  expect(iccidOf({ iccid: 'none' })).toBe('none');
  expect([iccidOf({ iccid: true }), iccidOf(null)]).toEqual([undefined, undefined]);
});

test('a refusal that the standard does not list is final, and named by its codes', () => {
  const judge = (statusCodeData?: { subjectCode: string; reasonCode: string }) =>
    judgeStatus({ status: 'Failed', ...(statusCodeData && { statusCodeData }) }, about);
  const { reason, ...verdict } = judge({ subjectCode: '8.9', reasonCode: '9.9' });
  expect(verdict).toEqual({ isTemporary: false, hadNoEffect: true });
  expect(reason.message).toContain('refused downloadOrder with the codes 8.9/9.9');
  expect(judge().reason.message).toContain('without a reason');
});

test('only a gateway’s statuses say that the system behind it is down', () => {
  expect([501, 502, 504, 505].map(isGatewayError)).toEqual([false, true, true, false]);
});

test.each([
  [
    'declined',
    ['8.2.1/3.9', '8.2.1/1.2', '8.2.5/3.9', '8.2.5/1.2', '8.2.5/3.8', '8.1.1/2.2', '8.1.1/3.9', '8.1.1/3.8'],
  ],
  ['state_conflict', ['8.2.1/3.3', '8.2.1/3.5', '8.2.6/3.3', '8.2.6/3.10', '8.1.1/3.10']],
  ['out_of_stock', ['8.2.5/3.7']],
  ['network_unavailable', ['1.6/4.2', '8.1/4.10', '1.2/5.1']],
])('a program is told %s for what the standard calls %j', (code, codes) => {
  for (const one of codes) {
    const [subjectCode = '', reasonCode = ''] = one.split('/');
    const { reason, isTemporary } = judgeStatus(
      { status: 'Failed', statusCodeData: { subjectCode, reasonCode } },
      about,
    );
    expect([one, reason.code, isTemporary]).toEqual([one, code, code === 'network_unavailable']);
    expect(reason).toMatchObject({
      ...{ host: 'smdp.example', upstream: { subject_code: subjectCode, reason_code: reasonCode } },
    });
    expect(reason.message).not.toMatch(/^The SM-DP\+ refused/);
  }
});

test('a call that expired is tried again, whatever its codes say', () => {
  const statusCodeData = { subjectCode: '8.2.5', reasonCode: '3.7' };
  expect(judgeStatus({ status: 'Expired', statusCodeData }, about)).toMatchObject({
    ...{ isTemporary: true, hadNoEffect: false, reason: { code: 'network_unavailable' } },
  });
});
