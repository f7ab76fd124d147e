import { expect, test } from 'vitest';
import { readAnswer, readRequest, writeRequest } from './messages.ts';

const header = { functionRequesterIdentifier: 'x', functionCallIdentifier: 'y' };
const answerOf = (status: string, fields: object = {}) => ({
  header: { functionExecutionStatus: { status } },
  ...fields,
});
const iccid = '8999901000000000018';

test('an order names a profile or its type, and is not written otherwise', () => {
  expect(JSON.parse(writeRequest('downloadOrder', header, { iccid }))).toEqual({ header, iccid });
  expect(() => writeRequest('downloadOrder', header, {})).toThrow(
    'downloadOrder (SGP.22 §5.3.1): one of iccid, profileType is required',
  );
});

test('an answer counts as executed with a warning too, and not if it failed or expired', () => {
  for (const status of ['Executed-Success', 'Executed-WithWarning'])
    expect(readAnswer('downloadOrder', answerOf(status, { iccid }))).toEqual({
      kind: 'executed',
      fields: { iccid },
    });
  for (const status of ['Failed', 'Expired'])
    expect(readAnswer('downloadOrder', answerOf(status, { iccid })).kind).toBe('not-executed');
});

test('an answer whose result is missing or wrong is broken, and one without a status unreadable', () => {
  const answered = (fields: object) => readAnswer('downloadOrder', answerOf('Executed-Success', fields));
  for (const missing of [{}, { iccid: '' }, { iccid: null }])
    expect(answered(missing)).toEqual({ kind: 'broken', why: 'iccid is missing' });
  expect(answered({ iccid: 'x' })).toMatchObject({
    kind: 'broken',
    why: expect.stringContaining('iccid is not'),
  });
  for (const json of [null, [], 'x', {}, { header: [] }, { header: { functionExecutionStatus: 'Failed' } }])
    expect(readAnswer('downloadOrder', json).kind).toBe('unreadable');
});

test('of a field and its other spelling the field counts, and unknown fields are ignored', () => {
  const point = { notificationPointId: 3, notificationPointStatus: { status: 'Failed' } };
  const given = { iccid, profileType: 'x', ...point, unknown: 1 };
  const read = (times: object) => {
    const found = readRequest('handleDownloadProgressInfo', { ...given, ...times });
    return 'why' in found ? found : Object.keys(found.fields).includes('unknown') || found.fields.timestamp;
  };
  expect(read({ timeStamp: '1709712641' })).toEqual(new Date(1_709_712_641_000));
  expect(read({ timeStamp: '1709712641', timestamp: '1709712642' })).toEqual(new Date(1_709_712_642_000));
  expect(read({})).toEqual({ why: 'timestamp is missing', isMissing: true });
  expect(read({ timestamp: 'soon' })).toMatchObject({ isMissing: false });
});
