import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { removeOld } from '../support/remove-old.ts';
import { startService, type TestService } from '../support/service.ts';

const [hour, day] = [3_600, 86_400];
/** Noon, so that a few hours are on the same day. */
const startMs = Date.parse('2026-11-10T12:00:00Z');
const start = startMs / 1_000;

let nowMs: number;
let service: TestService;
let iccid: string;
beforeEach(async () => {
  nowMs = startMs;
  service = await startService({ clock: { nowMs: () => nowMs } });
  iccid = await insertEsim(service);
  // Ordered before any of its usage.
  await service.db.pool.query(`update esims set created_at = '2026-01-01'`);
});
afterEach(() => service.stop());

async function report(given: { record_id: string; bytes: number; at: number }[]) {
  const records = given.map((record) => ({ ...record, iccid }));
  return (await call(service, 'POST', '/v1/usage_records', { body: { records } })).json;
}

const usage = (query: string) => call(service, 'GET', `/v1/esims/${iccid}/usage?${query}`);

/** Removes what is old so long after the start, and returns the ids of the records that are left. */
async function leftAfter(seconds: number): Promise<string[]> {
  nowMs = startMs + seconds * 1_000;
  await removeOld({ db: service.db, clock: service.service.clock });
  const { rows } = await service.db.pool.query('select record_id from usage_records order by record_id');
  return rows.map(({ record_id }) => record_id);
}

test('a record is accepted until it is 35 days old, and refused from then on', async () => {
  const records = [
    { record_id: 'old', bytes: 1, at: start - 35 * day - 1 },
    { record_id: 'last', bytes: 2, at: start - 35 * day },
  ];
  expect(await report(records)).toMatchObject({
    accepted: 1,
    rejected: 1,
    rejections: [{ index: 0, record_id: 'old', iccid, reason: 'too_old' }],
  });
  expect(await leftAfter(0)).toEqual(['last']);
});

test('a record that was forgotten never counts again', async () => {
  const records = [{ record_id: 'a', bytes: 5, at: start }];
  expect(await report(records)).toMatchObject({ accepted: 1 });
  for (const [days, answer] of [
    [35, { accepted: 0, duplicates: 1, rejected: 0 }],
    [35.5, { accepted: 0, duplicates: 0, rejected: 1 }],
    [36.5, { accepted: 0, duplicates: 0, rejected: 1 }],
  ] as const) {
    expect(await leftAfter(days * day), `after ${days} days`).toEqual(days < 36 ? ['a'] : []);
    expect(await report(records), `after ${days} days`).toMatchObject(answer);
  }
});

test('the sum of each day stays when its records go, in several sweeps too', async () => {
  await report([
    { record_id: 'a', bytes: 1, at: start - day },
    { record_id: 'b', bytes: 10, at: start },
    { record_id: 'c', bytes: 100, at: start + 100 },
    { record_id: 'd', bytes: 0, at: start },
  ]);
  nowMs = startMs + 8 * hour * 1_000;
  await report([{ record_id: 'e', bytes: 1_000, at: start + 8 * hour }]);
  const shown = async () => {
    const { json } = await usage(`from=${start - day}&until=${start + 1}`);
    return json.points.map((point: { used_bytes: number }) => point.used_bytes);
  };
  expect(await shown()).toEqual([1, 1_110]);
  for (const [hours, left] of [
    [4, ['e']],
    [12, []],
  ] as const) {
    expect(await leftAfter(36 * day + hours * hour)).toEqual(left);
    expect(await shown()).toEqual([1, 1_110]);
  }
});

test('hours are shown as long as their records are kept, and then refused, never shown as zero', async () => {
  await report([{ record_id: 'a', bytes: 7, at: start }]);
  const query = `interval=hour&from=${start}&until=${start + hour}`;
  expect(await leftAfter(36 * day)).toEqual(['a']);
  expect((await usage(query)).json.points).toEqual([{ start, used_bytes: 7 }]);
  nowMs += 1_000;
  const { status, json } = await usage(query);
  expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', 'from']);
});

test('simulated usage that is too old is refused', async () => {
  const simulate = (at: number) =>
    call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, {
      body: { action: 'use_data', bytes: 1, at },
    });
  expect((await simulate(start - 34 * day)).status).toBe(200);
  const { status, json } = await simulate(start - 36 * day);
  expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', 'at']);
});

test('the sum of a day belongs to the account, also if records from before there were accounts are in it', async () => {
  await report([
    { record_id: 'a', bytes: 1, at: start },
    { record_id: 'b', bytes: 10, at: start },
  ]);
  await service.db.pool.query(`update usage_records set account_id = null where record_id = 'a'`);
  await service.db.pool.query(`update usage_records set bytes = bytes where record_id = 'b'`); // so that it lies behind
  expect(await leftAfter(37 * day)).toEqual([]);
  const { rows } = await service.db.pool.query('select account_id = $1 as is_own, bytes from usage_days', [
    service.accountUuid,
  ]);
  expect(rows).toEqual([{ is_own: true, bytes: 11 }]);
});
