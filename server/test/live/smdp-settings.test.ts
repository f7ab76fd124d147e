import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openLiveNetwork } from '../../src/commands/live-network.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Network } from '../../src/network/port.ts';
import { createLog } from '../../src/platform/telemetry/log.ts';
import { createFolder } from '../support/certificates.ts';
import { type FakeSmdp, newIccid, startFakeSmdp } from '../support/fake-smdp.ts';
import { createTls } from '../support/smdp-setup.ts';

// What the settings of the SM-DP+ make of its driver. That they are read is tested beside their parsers.

const tls = createTls();
const folder = createFolder();
let smdp: FakeSmdp;
beforeAll(async () => {
  smdp = await startFakeSmdp({ tls: tls.server, smdpAddress: null });
});
afterAll(async () => {
  await smdp.stop();
  folder.remove();
});
beforeEach(() => {
  smdp.calls.length = 0;
  smdp.onCall(() => undefined);
});

async function open(settings: Record<string, string> = {}): Promise<Network> {
  const { config } = readConfig({
    SIMPLANE_MODE: 'live',
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    SIMPLANE_ES2_URL: smdp.url,
    SIMPLANE_ES2_CERT: folder.write('client.pem', tls.client.cert),
    SIMPLANE_ES2_KEY: folder.write('client.key', tls.client.key),
    SIMPLANE_ES2_CA: folder.write('ca.pem', tls.authority.pem),
    SIMPLANE_ES2_REQUESTER_ID: 'acme',
    SIMPLANE_ES2_SMDP_ADDRESS: 'rsp.example.com',
    ...settings,
  });
  const done = async () => ({ kind: 'done', result: {} }) as const;
  const clock = { nowMs: () => Date.now() };
  const commands = { suspend: done, resume: done };
  const live = await openLiveNetwork(config, createLog('silent'), clock, commands);
  onTestFinished(() => live.close());
  return live.network as Network;
}

const wanted = { productId: 'p', profileType: 'consumer', eid: null };
const call = (isRepeated = false) => ({
  ...{ id: `call-${smdp.calls.length}`, attempt: 1, isRepeated },
  signal: AbortSignal.timeout(30_000),
});
const orderOn = (network: Network, isRepeated = false, iccid: string | null = null) =>
  network.order({ ...call(isRepeated), ...wanted, iccid });

test('an order may be sent twice only if SIMPLANE_ES2_REPEATS says that the SM-DP+ recognizes it', async () => {
  expect(await orderOn(await open(), true)).toMatchObject({ reason: { code: 'outcome_unknown' } });
  expect(smdp.calls).toEqual([]);
  expect(await orderOn(await open({ SIMPLANE_ES2_REPEATS: 'call-id' }), true)).toMatchObject({
    kind: 'done',
  });
});

test('an ICCID without a check digit is taken unless SIMPLANE_ES2_ICCID_CHECK requires one', async () => {
  const iccid = `${newIccid(1).slice(0, -1)}0`;
  const header = { functionExecutionStatus: { status: 'Executed-Success' } };
  smdp.onCall(() => ({ answer: { header, iccid } }));
  expect(await orderOn(await open())).toMatchObject({ kind: 'done', result: { iccid } });
  expect(await orderOn(await open({ SIMPLANE_ES2_ICCID_CHECK: 'luhn' }))).toMatchObject({
    ...{ kind: 'refused', reservedIccid: iccid },
  });
});

test('after 503 an order is sent again unless SIMPLANE_ES2_UNDONE_STATUSES leaves it out', async () => {
  smdp.onCall(() => ({ status: 503, isDone: false }));
  expect(await orderOn(await open())).toMatchObject({ kind: 'failed', hadNoEffect: true });
  expect(await orderOn(await open({ SIMPLANE_ES2_UNDONE_STATUSES: 'none' }))).toMatchObject({
    reason: { code: 'outcome_unknown' },
  });
});

test.each<[string, Record<string, string>, boolean, string]>([
  ['at once, without padding', {}, true, ''],
  ['separately, padded', { SIMPLANE_ES2_RELEASE: 'separately', SIMPLANE_ES2_ICCID_PADDING: 'F' }, false, 'F'],
])('a profile is confirmed and released %s', async (_, settings, isReleased, padding) => {
  const network = await open({ ...settings, SIMPLANE_ICCID_RANGES: '8999909' });
  expect(network.iccids).toBe('ours');
  const iccid = newIccid(isReleased ? 2 : 3);
  await orderOn(network, false, iccid);
  const confirm = { ...call(), ...wanted, iccid, matchingId: 'AB-12', confirmationCode: null };
  expect(await network.confirm(confirm)).toMatchObject({
    ...{ kind: 'done', result: { isReleased, smdpAddress: 'rsp.example.com' } },
  });
  expect(smdp.calls.map(({ body }) => [body['iccid'], body['releaseFlag']])).toEqual([
    [`${iccid}${padding}`, undefined],
    [`${iccid}${padding}`, isReleased],
  ]);
});

test('without SIMPLANE_ICCID_RANGES the SM-DP+ chooses the ICCIDs', async () => {
  expect((await open()).iccids).toBe('theirs');
});
