import { describe, expect, test } from 'vitest';
import { executionStatus, timestamp } from '../../src/network/es2plus/fields.ts';
import { type Es2Function, es2Functions } from '../../src/network/es2plus/functions.ts';
import { readAnswer, readRequest } from '../../src/network/es2plus/messages.ts';
import { observationOf } from '../../src/network/es2plus/notifications.ts';
import { parseNotificationMap } from '../../src/network/notification-map.ts';

// Payloads published by others, so that our table and our fake SM-DP+ cannot share a mistake. Only facts of the interface;
// each has its source.

const requests = [
  // ostelco-core, sim-administration: shell scripts for Idemia's SM-DP+ (downloadOrder, cancelOrder).
  [
    'downloadOrder',
    {
      header: { functionRequesterIdentifier: 'RequesterID', functionCallIdentifier: 'TX-567' },
      iccid: '8901000000000000001',
    },
    { iccid: '8901000000000000001' },
  ],
  [
    'cancelOrder',
    {
      header: { functionRequesterIdentifier: 'RequesterID', functionCallIdentifier: 'TX-568' },
      iccid: '8901000000000000001',
      finalProfileStatusIndicator: 'Available',
    },
    { iccid: '8901000000000000001', finalProfileStatusIndicator: 'Available' },
  ],
  // A public end-to-end script for an open-source SM-DP+ on Spring (gsma/rsp/v3.1.0): all three fields at once.
  [
    'downloadOrder',
    {
      header: { functionRequesterIdentifier: 'OperatorX', functionCallIdentifier: 'TX-100' },
      eid: '89049032000008888888888888888801',
      iccid: '89049032000008888881',
      profileType: 'Standard',
    },
    { eid: '89049032000008888888888888888801', iccid: '89049032000008888881', profileType: 'Standard' },
  ],
  // An operator's published mapping for confirmOrder: the ICCID always ends with F.
  [
    'confirmOrder',
    {
      header: { functionRequesterIdentifier: '1.3.6.1.4.1.30378', functionCallIdentifier: 'OMX-1' },
      iccid: '8901000000000000001F',
      releaseFlag: true,
      matchingId: 'AB-12',
    },
    { iccid: '8901000000000000001', releaseFlag: true, matchingId: 'AB-12' },
  ],
] as const;

describe('published requests', () => {
  test.each(requests)('%s %#', (name, json, fields) => {
    const read = readRequest(name, json);
    expect('fields' in read && read.fields).toEqual(fields);
  });
});

describe('published answers', () => {
  test('a success of a public simulator: iccid, then smdpAddress and matchingId with a null eid', () => {
    const header = { functionExecutionStatus: { status: 'Executed-Success' } };
    expect(readAnswer('downloadOrder', { header, iccid: '8949000000000001654' })).toEqual({
      kind: 'executed',
      fields: { iccid: '8949000000000001654' },
    });
    const confirmed = { header, eid: null, smdpAddress: 'smdp.dxps.local', matchingId: 'MID-00001654' };
    expect(readAnswer('confirmOrder', confirmed)).toEqual({
      kind: 'executed',
      fields: { smdpAddress: 'smdp.dxps.local', matchingId: 'MID-00001654' },
    });
  });

  test('a success with the codes 0/0, from a Chinese carrier’s interface document', () => {
    const statusCodeData = { subjectCode: '0', reasonCode: '0', message: 'success' };
    const header = { functionExecutionStatus: { status: 'Executed-Success', statusCodeData } };
    expect(readAnswer('releaseProfile', { header, iccid: '89852342022019785558' })).toEqual({
      kind: 'executed',
      fields: {},
    });
  });

  test('a failure with a subject identifier, from a production server', () => {
    const statusCodeData = {
      subjectCode: '8.1.1',
      reasonCode: '3.8',
      subjectIdentifier: '89033023426300000000019675655040',
      message: 'The EID is not the same between reservation and request.',
    };
    const header = { functionExecutionStatus: { status: 'Failed', statusCodeData } };
    expect(readAnswer('downloadOrder', { header })).toEqual({
      kind: 'not-executed',
      status: { status: 'Failed', statusCodeData },
    });
  });

  test('a status that is a string, as one reseller’s client expects, is not a success', () => {
    const header = { functionExecutionStatus: 'Executed-Success' };
    expect(readAnswer('cancelOrder', { header })).toMatchObject({ kind: 'unreadable' });
    expect(executionStatus.read('Executed-Success')).toBeUndefined();
  });
});

describe('published notifications', () => {
  // The same carrier's document: `timeStamp`, Unix seconds as text, the point as text, 102 for disabled.
  const json = {
    header: {
      functionRequesterIdentifier: '24a3b946405843d2a1bc69780e7ba717',
      functionCallIdentifier: 'handleDownloadProgressInfo',
    },
    iccid: '89852342022019785558',
    eid: '89043051202200005223001347834515',
    profileType: 'CMI_gds_esim_02',
    timeStamp: '1709712641',
    notificationPointId: '102',
    notificationPointStatus: { status: 'Executed-Success' },
  };

  test('with another spelling, numbers as text and Unix time', () => {
    const read = readRequest('handleDownloadProgressInfo', json);
    if ('why' in read) throw new Error(read.why);
    const map = parseNotificationMap('3=downloaded,4=installed,5=deleted,101=installed,102=disabled');
    expect(observationOf(read.fields, map ?? new Map(), new Date())).toEqual({
      kind: 'profile',
      iccid: '89852342022019785558',
      eid: '89043051202200005223001347834515',
      state: 'disabled',
      at: new Date(1_709_712_641_000),
    });
  });

  test.each([
    ['2024-03-06T08:10:41Z'],
    ['2024-03-06T08:10:41'],
    ['2024-03-06T08:10:41.000Z'],
    ['2024-03-06T09:10:41+01:00'],
    ['2024-03-06T09:10:41+0100'],
    ['2024-03-06 08:10:41'],
    ['20240306T081041Z'],
    ['1709712641'],
    [1_709_712_641],
    ['1709712641000'],
  ])('the timestamp %j is accepted', (text) => {
    expect(timestamp.read(text)).toEqual(new Date(1_709_712_641_000));
  });

  test.each(['', 'soon', '2024-13-45T99:99:99Z', '06.03.2024', {}, null, 5])('%j is rejected', (text) => {
    expect(timestamp.read(text)).toBeUndefined();
  });
});

test('the table has the same mandatory fields as osmocom’s pySim', () => {
  const mandatory = Object.fromEntries(
    Object.entries<Es2Function>(es2Functions).map(([name, { request, response }]) => [
      name,
      [request, response ?? {}].map((fields) =>
        Object.entries(fields)
          .filter(([, { isMandatory }]) => isMandatory)
          .map(([field]) => field)
          .sort(),
      ),
    ]),
  );
  expect(mandatory).toEqual({
    downloadOrder: [[], ['iccid']],
    confirmOrder: [['iccid', 'releaseFlag'], ['matchingId']],
    cancelOrder: [['finalProfileStatusIndicator', 'iccid'], []],
    releaseProfile: [['iccid'], []],
    handleDownloadProgressInfo: [
      ['iccid', 'notificationPointId', 'notificationPointStatus', 'profileType', 'timestamp'],
      [],
    ],
  });
  for (const [name, { path }] of Object.entries(es2Functions))
    expect(path).toBe(`/gsma/rsp2/es2plus/${name}`);
});
