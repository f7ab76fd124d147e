import { expect, test } from 'vitest';
import { presentForOperator } from './present.ts';

type Row = Parameters<typeof presentForOperator>[0];

const uuid = '018f2d6a-0000-7000-8000-000000000001';
const at = new Date('2026-01-01T00:00:00Z');

const base = {
  ...{ id: uuid, account_id: uuid, type: 'esim.provision', status: 'running', product_id: 'p', iccid: null },
  ...{ reference: null, price: null, error: null, attempts: 1, created_at: at, finished_at: null },
  ...{ waiting_for: null, next_attempt_at: null, retry_of: null, retried_by: null, batch_id: null },
  ...{ progress: {}, leased_until: null, failure_group: null, resolution: null },
} as unknown as Row;

const shown = (given: Partial<Row>) => presentForOperator({ ...base, ...given });
const stepsOf = (given: Partial<Row>) => shown(given).steps.map(({ name, status }) => `${name} ${status}`);
const failedIn = (step: string) => ({ last_error: { step, code: 'declined', message: 'no', at: 0 } });

test.each<[string, Partial<Row>, string[]]>([
  ['was not made', { progress: { sent_order: false } }, []],
  ['may have been made', { progress: { sent_order: true } }, ['order sent']],
  ['failed', { progress: { sent_order: true, ...failedIn('order') } }, ['order failed']],
  [
    'failed and then succeeded',
    { progress: { sent_order: true, is_ordered: true, ...failedIn('order') } },
    ['order done'],
  ],
  [
    'is followed by others',
    { progress: { sent_order: true, is_ordered: true, is_confirmed: true, sent_release: true } },
    ['order done', 'confirm done', 'release sent'],
  ],
  ['of a profile that was never ours needed no undoing', { progress: { is_closed: true } }, []],
  ['was undone', { progress: { sent_undo: true, is_closed: true } }, ['undo done']],
  ['could not be undone', { progress: { sent_undo: true, ...failedIn('undo') } }, ['undo failed']],
  [
    'of an order that succeeded was done',
    { status: 'succeeded', progress: { sent_release: true, sent_undo: true } },
    ['release done', 'undo sent'],
  ],
  [
    'of a change is its only one',
    { type: 'esim.suspend', progress: { sent_suspend: true } },
    ['suspend sent'],
  ],
])('a call that %s is shown so', (_, row, steps) => {
  expect(stepsOf(row)).toEqual(steps);
});

test('what an operator decided is shown with what became of it, and the call only if there is one', () => {
  const resolution = {
    ...{ outcome: 'reserved', action: 'cancel', iccid: '1', attempts: 2, error: null, closed_at: null },
    ...{ decided_by: { type: 'operator', id: null, name: 'Ada' }, decided_at: '2026-01-01T00:00:00Z' },
  } as const;
  const of = (given: object) =>
    shown({ resolution: { ...resolution, ...given } as Row['resolution'] }).resolution;
  expect(of({})).toMatchObject({
    ...{ status: 'canceling', then: 'cancel', function_call_identifier: `${uuid}.return` },
    ...{ decided_at: 1_767_225_600, closed_at: null, attempts: 2 },
  });
  const error = { code: 'network_unavailable', message: 'down' };
  expect(of({ error })).toMatchObject({ status: 'canceling', error });
  const closed_at = '2026-01-01T00:01:00Z';
  expect(of({ error, closed_at })).toMatchObject({ status: 'refused', closed_at: 1_767_225_660 });
  expect(of({ closed_at })).toMatchObject({ status: 'closed' });
  expect(of({ action: 'adopt', closed_at })).toMatchObject({ then: 'adopt', function_call_identifier: null });
  expect(shown({}).resolution).toBeNull();
});

test('the operator sees the last error with its host, and who holds an execution until when', () => {
  const last_error = { step: 'order', code: 'declined', message: 'no', network: 'smdp.example', at: 1_500 };
  const upstream = { status: '503' };
  expect(shown({ progress: { last_error: { ...last_error, upstream } }, leased_until: at })).toMatchObject({
    ...{ last_error: { ...last_error, upstream, at: 1 }, leased_until: 1_767_225_600 },
  });
  expect(shown({ progress: { last_error } }).last_error).not.toHaveProperty('upstream');
  expect(shown({})).toMatchObject({ last_error: null, leased_until: null });
});

test('an operator is told what to run about an execution that waits, and not to ask the operator', () => {
  const { waiting_for: cause } = shown({ waiting_for: 'network' });
  expect(cause).toMatch(/^The network failed or did not answer\..*`simplane-server doctor`/);
  expect(cause).not.toContain('ask the operator');
});
