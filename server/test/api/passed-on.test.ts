import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { maxRejections } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { type CellService, peerOf, startCellService, useFakeCells } from '../support/other-cells.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;

let first: CellService;
let eu: CellService;
/** Of an account that stays where it is. */
let networkKey: string;
beforeAll(async () => {
  [first, eu] = await Promise.all([
    startCellService(null, { mode: 'live' }),
    startCellService('eu', { mode: 'live' }),
  ]);
  ({ key: networkKey } = await first.createAccount('Core'));
});
afterAll(() => Promise.all([first, eu].map((one) => one.stop())));

const fake = useFakeCells();
beforeEach(() => {
  first.knows([peerOf(eu)]);
  eu.knows([peerOf(first)]);
});

const broken = () => fake('us', (response) => response.writeHead(500).end());

let serial = 0;
const record = (iccid: string, changes: object = {}) => ({
  ...{ record_id: `cdr-${++serial}`, iccid, bytes: 1_000, at: Math.floor(first.clock.nowMs() / 1_000) - 60 },
  ...changes,
});

const report = async (records: Json[], headers: Record<string, string> = {}): Promise<Json> => {
  const { status, json } = await call(first, 'POST', '/v1/usage_records', {
    ...{ key: networkKey, body: { records }, headers },
  });
  expect([status, json.error?.message]).toEqual([200, undefined]);
  return json;
};

const reasons = ({ rejections }: Json) => rejections.map(({ index, reason }: Json) => [index, reason]);

async function countRecords({ db }: CellService, iccid: string): Promise<number> {
  return (await db.pool.query('select from usage_records where iccid = $1', [iccid])).rowCount ?? 0;
}

async function setMove({ db, accountUuid }: CellService, state: string | null, cell: string | null = null) {
  await db.pool.query('delete from account_moves where account_id = $1', [accountUuid]);
  if (state === null) return;
  await db.pool.query('insert into account_moves (account_id, state, cell) values ($1, $2, $3)', [
    ...[accountUuid, state, cell],
  ]);
}

const unknownIccid = () => `8999999${String(++serial).padStart(12, '0')}`;

describe('usage records for eSIMs of several cells', () => {
  test('are counted each in its cell, and answered as one batch', async () => {
    const [here, there] = [await insertEsim(first), await insertEsim(eu)];
    const records = [
      record(there),
      record(here),
      record(unknownIccid()),
      record(there, { corrects: 'cdr-never' }),
      record(here),
    ];
    const answer = await report([...records, records[0]]);
    expect(answer).toMatchObject({ accepted: 3, duplicates: 1, rejected: 2 });
    expect(reasons(answer)).toEqual([
      [2, 'esim_unknown'],
      [3, 'record_unknown'],
    ]);
    expect(answer.rejections[1]).toMatchObject({ iccid: there, record_id: records[3]?.record_id });
    expect([await countRecords(first, here), await countRecords(eu, there)]).toEqual([2, 1]);
    expect(await report(records)).toMatchObject({ accepted: 0, duplicates: 3, rejected: 2 });
    expect([await countRecords(first, there), await countRecords(eu, here)]).toEqual([0, 0]);
  });

  test('are not passed on if all eSIMs are here, and of others only the others’', async () => {
    const other = await broken();
    first.knows([other]);
    const here = await insertEsim(first);
    await report([record(here), record(here)]);
    expect(other.asked).toEqual([]);
    await report([record(here), record(unknownIccid())]);
    expect(other.asked).toEqual(['POST /v1/operator/observations']);
  });

  test('have to be repeated while a cell that may have the eSIM does not answer, and count once', async () => {
    const [here, there] = [await insertEsim(first), await insertEsim(eu)];
    const records = [record(here), record(there)];
    first.knows([await broken()]);
    const answer = await report(records);
    expect(answer).toMatchObject({ accepted: 1, rejected: 1 });
    expect(reasons(answer)).toEqual([[1, 'esim_not_ready']]);
    first.knows([peerOf(eu), await broken()]);
    expect(await report(records)).toMatchObject({ accepted: 1, duplicates: 1, rejected: 0 });
    expect(await countRecords(eu, there)).toBe(1);
  });

  test('are passed on once under an idempotency key, whose answer has all cells', async () => {
    const there = await insertEsim(eu);
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = [record(there)];
    const answer = await report(body, headers);
    expect(answer).toMatchObject({ accepted: 1 });
    const other = await broken();
    first.knows([other]);
    expect(await report(body, headers)).toEqual(answer);
    expect(other.asked).toEqual([]);
  });

  test('that are refused are kept in the cell that was asked, and listed up to the limit', async () => {
    const there = await insertEsim(eu);
    await eu.db.pool.query(`update esims set status = 'failed' where iccid = $1`, [there]);
    const records = Array.from({ length: maxRejections + 5 }, () => record(there));
    const answer = await report(records);
    expect(answer).toMatchObject({ accepted: 0, duplicates: 0, rejected: maxRejections + 5 });
    expect(answer.rejections).toHaveLength(maxRejections);
    const kept = async ({ db }: CellService) =>
      (await db.pool.query('select from rejected_usage where iccid = $1', [there])).rowCount;
    expect([await kept(first), await kept(eu)]).toEqual([maxRejections + 5, 0]);
  });

  test('of a sandbox stay in it: a key there reaches only its own account', async () => {
    const sandbox = await startCellService(null);
    const other = await broken();
    sandbox.knows([other]);
    const { json } = await call(sandbox, 'POST', '/v1/usage_records', {
      body: { records: [record(unknownIccid(), { at: Math.floor(sandbox.clock.nowMs() / 1_000) })] },
    });
    expect(reasons(json)).toEqual([[0, 'esim_unknown']]);
    expect(other.asked).toEqual([]);
    await sandbox.stop();
  });

  test('are in the audit log of each cell with what it counted', async () => {
    const there = await insertEsim(eu);
    await report([record(there), record(unknownIccid())]);
    const { json } = await call(eu, 'GET', '/v1/operator/audit_log?action=usage.reported&limit=1', {
      key: eu.operatorKey,
    });
    expect(json.data[0].changes).toEqual({ accepted: 1, duplicates: 0, rejected: 0 });
    // A cell that has none of the eSIMs has done nothing.
    await report([record(unknownIccid())]);
    const after = await call(eu, 'GET', '/v1/operator/audit_log?action=usage.reported&limit=1', {
      key: eu.operatorKey,
    });
    expect(after.json.data[0].id).toBe(json.data[0].id);
  });

  test('wait for a cell that hangs without a database connection or a locked row', async () => {
    const [here, there] = [await insertEsim(first), await insertEsim(eu)];
    const hanging = await fake('us', () => {});
    first.knows([hanging], { timeoutMs: 3_600_000 });
    const abort = new AbortController();
    const waiting = fetch(`${first.url}/v1/usage_records`, {
      method: 'POST',
      headers: { authorization: `Bearer ${networkKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ records: [record(here), record(there)] }),
      signal: abort.signal,
    }).catch(() => null);
    await until(
      async () => hanging.asked.length,
      (count) => count === 1,
    );
    await until(
      async () => first.db.pool.totalCount - first.db.pool.idleCount,
      (busy) => busy === 0,
    );
    const other = await first.createAccount('Honest');
    const answer = await call({ ...first, key: other.key }, 'POST', '/v1/usage_records', {
      body: { records: [record(here)] },
    });
    expect(answer.json).toMatchObject({ accepted: 1 });
    first.knows([]);
    abort.abort();
    await waiting;
  });

  test('reach a cell that hangs with what people look at', async () => {
    const accepted = JSON.stringify({ object: 'observations', cell: 'us', usage_records: ['accepted'] });
    const slow = await fake('us', (response, { method }) => {
      if (method === 'POST') response.end(accepted);
    });
    first.knows([slow], { timeoutMs: 1_000, pauseMs: 3_600_000 });
    await call(first, 'GET', '/v1/operator/overview', { key: first.operatorKey });
    expect(await report([record(unknownIccid())])).toMatchObject({ accepted: 1 });
  });

  test.each<[string, (sent: Json) => Json]>([
    ['too few outcomes', (sent) => ({ usage_records: sent.usage_records.slice(1).map(() => 'accepted') })],
    ['outcomes that do not exist', (sent) => ({ usage_records: sent.usage_records.map(() => 'stolen') })],
    ['no outcomes', () => ({})],
    ['another label', (sent) => ({ cell: 'eu', usage_records: sent.usage_records.map(() => 'accepted') })],
  ])('are not believed to be counted if a cell answers with %s', async (_, answer) => {
    const lying = await fake('us', (response, request) => {
      json(request).then(
        (sent) => response.end(JSON.stringify({ object: 'observations', cell: 'us', ...answer(sent) })),
        () => response.destroy(),
      );
    });
    first.knows([lying]);
    expect(reasons(await report([record(unknownIccid()), record(unknownIccid())]))).toEqual([
      [0, 'esim_not_ready'],
      [1, 'esim_not_ready'],
    ]);
  });

  test('are counted once if two cells report to each other at the same time', async () => {
    const [here, there] = [await insertEsim(first), await insertEsim(eu)];
    const records = Array.from({ length: 20 }, () => [record(here), record(there)]).flat();
    const answers = await Promise.all(
      [first, eu, first, eu].map((on) => call(on, 'POST', '/v1/usage_records', { body: { records } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.reduce((sum, { json }) => sum + json.accepted, 0)).toBe(records.length);
    expect([await countRecords(first, here), await countRecords(eu, there)]).toEqual([20, 20]);
  });
});

describe('while an account moves', () => {
  /** The same eSIM has a row in both cells. */
  async function insertInBoth(): Promise<string> {
    const iccid = await insertEsim(eu);
    const copy = await insertEsim(first);
    await first.db.pool.query('update esims set iccid = $2 where iccid = $1', [copy, iccid]);
    return iccid;
  }

  test.each([
    ['has moved', 'moved'],
    ['is still being copied here', 'arriving'],
  ])('its records go to the cell that has it if it %s', async (_, state) => {
    const iccid = await insertInBoth();
    await setMove(first, state, 'eu');
    expect(await report([record(iccid)])).toMatchObject({ accepted: 1 });
    expect([await countRecords(first, iccid), await countRecords(eu, iccid)]).toEqual([0, 1]);
    await setMove(first, null);
  });

  test('a cell into which it is copied says that it does not have the eSIM, and one that it leaves that it is not ready', async () => {
    const iccid = await insertEsim(eu);
    const ask = async () => {
      const profile = { iccid, state: 'installed', at_ms: eu.clock.nowMs() };
      const { json } = await call(eu, 'POST', '/v1/operator/observations', {
        key: eu.operatorKey,
        body: { usage_records: [record(iccid)], profile },
      });
      return [json.usage_records, json.profile];
    };
    await setMove(eu, 'arriving');
    expect(await ask()).toEqual([['esim_unknown'], 'esim_unknown']);
    // Also when it has just left: a third cell may have asked the new one too early.
    for (const state of ['frozen', 'moved']) {
      await setMove(eu, state);
      expect(await ask(), state).toEqual([['esim_not_ready'], 'esim_not_ready']);
    }
    await eu.db.pool.query(`update account_moves set changed_at = now() - interval '61 seconds'`);
    expect(await ask()).toEqual([['esim_unknown'], 'esim_unknown']);
    await setMove(eu, 'frozen');
    expect(reasons(await report([record(iccid)]))).toEqual([[0, 'esim_not_ready']]);
    await setMove(eu, 'copying');
    expect(await ask()).toEqual([['accepted'], 'accepted']);
    await setMove(eu, null);
  });

  test('the cell that took a record counts, and not the one that the account is leaving', async () => {
    const iccid = await insertEsim(eu);
    const leaving = await fake('us', (response) =>
      response.end(JSON.stringify({ object: 'observations', cell: 'us', usage_records: ['esim_not_ready'] })),
    );
    first.knows([leaving, peerOf(eu)]);
    expect(await report([record(iccid)])).toMatchObject({ accepted: 1, rejected: 0 });
  });
});

describe('a notification for an eSIM of another cell', () => {
  const at = () => new Date(first.clock.nowMs() - 5_000);
  const observed = (iccid: string) =>
    createObservationHandler(first.service)({ kind: 'profile', iccid, state: 'installed', at: at() });
  const profileOf = async ({ db }: CellService, iccid: string) =>
    (await db.pool.query('select profile_state, eid, profile_error from esims where iccid = $1', [iccid]))
      .rows[0];

  test('is stored there, to the millisecond and with all that it says', async () => {
    const iccid = await insertEsim(eu);
    const eid = '89049032000000000000000000000067';
    const seen = new Date(first.clock.nowMs() - 4_321);
    const take = createObservationHandler(first.service);
    expect(await take({ kind: 'profile', iccid, state: 'installed', at: seen, eid })).toBe(true);
    const { rows } = await eu.db.pool.query(
      'select profile_state, profile_observed_at, eid from esims where iccid = $1',
      [iccid],
    );
    expect(rows).toEqual([{ profile_state: 'installed', profile_observed_at: seen, eid }]);
    const error = { code: 'device_memory_full', message: 'Full.', upstream: { notification_point_id: '3' } };
    const failure = { step: 'download', error } as never;
    const other = await insertEsim(eu);
    expect(await take({ kind: 'profile', iccid: other, state: 'error', failure, at: seen })).toBe(true);
    expect(await profileOf(eu, other)).toMatchObject({ profile_state: 'error', profile_error: error });
    expect(await first.service.metrics.registry.metrics()).toMatch(
      /simplane_network_reports_total\{outcome="passed_on"\} [1-9]/,
    );
  });

  test('is unknown only if every cell says so', async () => {
    expect(await observed(unknownIccid())).toBe(false);
    first.knows([peerOf(eu), await broken()]);
    await expect(observed(unknownIccid())).rejects.toMatchObject({ code: 'unavailable' });
    expect(await observed(await insertEsim(eu))).toBe(true);
    expect(await observed(await insertEsim(first))).toBe(true);
  });

  test('of an account that has moved goes to its cell, and is sent again if that does not answer', async () => {
    const iccid = await insertEsim(first);
    await setMove(first, 'moved', 'eu');
    await expect(observed(iccid)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await profileOf(first, iccid)).toMatchObject({ profile_state: 'released' });
    const copy = await insertEsim(eu);
    await eu.db.pool.query('update esims set iccid = $2 where iccid = $1', [copy, iccid]);
    expect(await observed(iccid)).toBe(true);
    expect(await profileOf(eu, iccid)).toMatchObject({ profile_state: 'installed' });
    await setMove(first, null);
  });

  test('is sent again while the account leaves the other cell', async () => {
    const iccid = await insertEsim(eu);
    await setMove(eu, 'frozen');
    await expect(observed(iccid)).rejects.toMatchObject({ code: 'unavailable' });
    await setMove(eu, null);
    expect(await observed(iccid)).toBe(true);
  });

  test('needs no database connection while a cell hangs', async () => {
    const hanging = await fake('us', () => {});
    first.knows([hanging], { timeoutMs: 3_600_000 });
    const waiting = Array.from({ length: 20 }, () => observed(unknownIccid()).catch(() => null));
    await until(
      async () => hanging.asked.length,
      (count) => count >= 16,
    );
    await until(
      async () => first.db.pool.totalCount - first.db.pool.idleCount,
      (busy) => busy === 0,
    );
    first.knows([]);
    await Promise.all(waiting);
  });
});

describe('POST /v1/operator/observations', () => {
  const post = (body: object) => call(eu, 'POST', '/v1/operator/observations', { key: eu.operatorKey, body });

  test('never passes on', async () => {
    const other = await broken();
    eu.knows([other]);
    const iccid = unknownIccid();
    const profile = { iccid, state: 'installed', at_ms: eu.clock.nowMs() };
    const { json } = await post({ usage_records: [record(iccid)], profile });
    expect(json).toEqual({
      ...{ object: 'observations', cell: 'eu' },
      ...{ usage_records: ['esim_unknown'], profile: 'esim_unknown' },
    });
    expect(other.asked).toEqual([]);
  });

  test('refuses a failure without its error', async () => {
    const { status, json } = await post({ profile: { iccid: unknownIccid(), state: 'error', at_ms: 1 } });
    expect([status, json.error.param]).toEqual([400, 'profile.failure']);
  });

  test('takes a time in the future as now, so that later notifications count', async () => {
    const iccid = await insertEsim(eu);
    const at_ms = eu.clock.nowMs() + 3_600_000;
    expect((await post({ profile: { iccid, state: 'downloaded', at_ms } })).json.profile).toBe('accepted');
    const { rows } = await eu.db.pool.query('select profile_observed_at from esims where iccid = $1', [
      iccid,
    ]);
    expect(rows[0].profile_observed_at.getTime()).toBeLessThan(at_ms);
  });
});
