import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { createAuthority } from '../support/certificates.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertWaiting } from '../support/insert-executions.ts';
import {
  type CellService,
  peerOf,
  startCellService,
  startFakeCell,
  useFakeCells,
} from '../support/other-cells.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;

let first: CellService;
let eu: CellService;
beforeAll(async () => {
  [first, eu] = await Promise.all([startCellService(null), startCellService('eu')]);
});
afterAll(() => Promise.all([first, eu].map((one) => one.stop())));

const fake = useFakeCells();
beforeEach(() => {
  first.knows([peerOf(eu)]);
  eu.knows([peerOf(first)]);
});

async function read(on: CellService, path: string): Promise<Json> {
  const { status, json } = await call(on, 'GET', path, { key: on.operatorKey });
  expect([status, json.error?.message]).toEqual([200, undefined]);
  return json;
}

const answered = (cell: string | null) => ({ cell, answered: true });

const search = (on: CellService, q: string, rest = '') =>
  read(on, `/v1/operator/search?q=${encodeURIComponent(q)}${rest}`);

async function setMove(on: CellService, accountUuid: string, state: string, cell: string | null) {
  await on.db.pool.query(
    `insert into account_moves (account_id, state, cell) values ($1, $2, $3)
     on conflict (account_id) do update set state = excluded.state, cell = excluded.cell`,
    [accountUuid, state, cell],
  );
}

describe('a deployment that knows no other cell', () => {
  test('answers as ever', async () => {
    const alone = await startCellService(null);
    const iccid = await insertEsim(alone);
    const overview = await read(alone, '/v1/operator/overview');
    expect(overview).not.toHaveProperty('cells');
    const { data, ...list } = await search(alone, iccid);
    expect(list).toEqual({ object: 'list', has_more: false });
    expect(data[0]).not.toHaveProperty('cell');
    await alone.stop();
  });
});

describe('the operator’s overview of several cells', () => {
  test('adds up what the cells have, and says which they are', async () => {
    const before = await read(first, '/v1/operator/overview');
    await insertWaiting(first);
    for (let i = 0; i < 2; i++) await insertWaiting(eu);
    const after = await read(first, '/v1/operator/overview');
    expect(after.backlogs.executions.count - before.backlogs.executions.count).toBe(3);
    expect(after.funnel[0].count - before.funnel[0].count).toBe(3);
    expect(after.cells).toEqual([answered(null), answered('eu')]);
    const other = await read(eu, '/v1/operator/overview');
    expect(other.backlogs).toEqual(after.backlogs);
    expect(other.cells).toEqual([answered('eu'), answered(null)]);
  });

  test('is of the asked cell alone if that is wanted, and so a cell never asks for what others have', async () => {
    const other = await fake('us', (response) => response.writeHead(500).end());
    first.knows([other]);
    expect((await read(first, '/v1/operator/overview?cells=own')).cells).toEqual([answered(null)]);
    expect((await search(first, 'a reference', '&cells=own')).cells).toEqual([answered(null)]);
    expect(other.asked).toEqual([]);
    await read(first, '/v1/operator/overview');
    await search(first, 'a reference');
    expect(other.asked).toEqual([
      'GET /v1/operator/overview?cells=own',
      'GET /v1/operator/search?q=a+reference&limit=20&cells=own',
    ]);
  });
});

describe('the operator’s search in several cells', () => {
  test('finds what is in another cell, and says where', async () => {
    const here = await insertEsim(first);
    const there = await insertEsim(eu);
    expect((await search(first, here)).data).toMatchObject([{ id: here, cell: null }]);
    const found = await search(first, there);
    expect(found.data).toMatchObject([{ id: there, cell: 'eu' }]);
    expect(found.cells).toEqual([answered(null), answered('eu')]);
    const products = await search(first, 'prod_europe_5gb_30d');
    expect(products.data.map(({ cell }: Json) => cell).sort()).toEqual(['eu', null]);
  });

  test('shows an account that has moved once, where it is, also if only the old cell answers', async () => {
    const { accountUuid } = await eu.createAccount('Mover');
    const id = idOfUuid(idPrefixes.account, accountUuid);
    await first.db.pool.query(
      `insert into accounts (id, name, api_version, created_at) select $1, 'Mover', api_version, now() from accounts limit 1`,
      [accountUuid],
    );
    await setMove(first, accountUuid, 'moved', 'eu');
    for (const on of [first, eu]) expect((await search(on, id)).data).toMatchObject([{ id, cell: 'eu' }]);
    await setMove(first, accountUuid, 'arriving', 'eu');
    for (const on of [first, eu]) expect((await search(on, id)).data).toMatchObject([{ id, cell: 'eu' }]);
    first.knows([await fake('eu', (response) => response.writeHead(500).end())]);
    const { data, cells } = await search(first, id);
    expect(data).toMatchObject([{ id, cell: 'eu' }]);
    expect(cells).toEqual([answered(null), { cell: 'eu', answered: false, cause: 'failed' }]);
  });

  test('returns no more than `limit` of all cells, the newest first', async () => {
    const iccids = [];
    for (const on of [first, eu, first, eu]) iccids.push(await insertEsim(on));
    await first.db.pool.query(`update esims set reference = 'shared' where iccid = any($1)`, [iccids]);
    await eu.db.pool.query(`update esims set reference = 'shared' where iccid = any($1)`, [iccids]);
    const idsOf = async (limit: number) =>
      (await search(first, 'shared', `&limit=${limit}`)).data.map(({ id }: Json) => id);
    expect((await idsOf(10)).toSorted()).toEqual(iccids);
    expect(await idsOf(3)).toHaveLength(3);
  });
});

describe('a cell that does not answer', () => {
  const page = '<!doctype html><title>Sign in</title>';
  const endless = (response: ServerResponse) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 32)));
    };
    response.on('drain', more).writeHead(200, { 'content-type': 'application/json' });
    more();
  };

  test.each<[name: string, cause: string, answer: Parameters<typeof startFakeCell>[1]]>([
    ['hangs', 'timeout', () => {}],
    ['sends only headers', 'timeout', (response) => response.writeHead(200).flushHeaders()],
    ['closes the connection', 'unreachable', (response) => response.destroy()],
    [
      'closes it in the middle of its answer',
      'unreachable',
      (response) => response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy()),
    ],
    ['does not know the key', 'key_refused', (response) => response.writeHead(401).end('{}')],
    ['lets the key do too little', 'key_refused', (response) => response.writeHead(403).end('{}')],
    ['is not the one with this key', 'key_refused', (response) => response.writeHead(421).end('{}')],
    ['fails', 'failed', (response) => response.writeHead(500).end(page)],
    ['answers with a page', 'invalid_answer', (response) => response.writeHead(200).end(page)],
    [
      'answers with something else',
      'invalid_answer',
      (response) => response.writeHead(200).end('{"data":7}'),
    ],
    ['answers with null', 'invalid_answer', (response) => response.writeHead(200).end('null')],
    ['answers without an end', 'invalid_answer', endless],
  ])('is named with the cause if it %s: %s', async (_, cause, answer) => {
    first.knows([await fake('us', answer), peerOf(eu)], cause === 'timeout' ? { timeoutMs: 2_000 } : {});
    const iccid = await insertEsim(first);
    const cells = [
      answered(null),
      { cell: 'us', answered: false, cause },
      expect.objectContaining({ cell: 'eu' }),
    ];
    expect((await read(first, '/v1/operator/overview')).cells).toEqual(cells);
    const found = await search(first, iccid);
    expect(found.data).toMatchObject([{ id: iccid, cell: null }]);
    expect(found.cells).toEqual(cells);
  });

  test('is not followed to another address, which would get the key', async () => {
    const thief = await fake('us', (response) => response.end());
    const redirecting = await fake('us', (response) =>
      response.writeHead(307, { location: `${thief.origin}/` }).end(),
    );
    first.knows([redirecting]);
    expect((await read(first, '/v1/operator/overview')).cells[1].cause).toBe('invalid_answer');
    expect(thief.asked).toEqual([]);
  });

  test('does not get the key with a certificate that nobody knows, whatever the environment says', async () => {
    const { cert, key } = createAuthority('unknown').issue({ name: 'us', hosts: ['127.0.0.1'] });
    let asked = 0;
    const other = createServer({ cert, key }, (_, response) => {
      asked += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    onTestFinished(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
      other.close();
    });
    first.knows([{ cell: 'us', origin: `https://127.0.0.1:${port}`, key: generateApiKey('sandbox', 'us') }]);
    expect((await read(first, '/v1/operator/overview')).cells[1].cause).toBe('unreachable');
    expect(asked).toBe(0);
  });

  test('keeps no connection busy with an answer that nobody reads', async () => {
    const refusing = await fake('us', (response) => response.writeHead(401).end('x'.repeat(1_000_000)));
    first.knows([refusing], { timeoutMs: 3_600_000 });
    for (let n = 0; n < 20; n++)
      expect((await read(first, '/v1/operator/overview')).cells[1].cause).toBe('key_refused');
  }, 120_000);

  test('is one whose address is another cell’s', async () => {
    first.knows([{ ...peerOf(eu), cell: 'us' }]);
    expect((await read(first, '/v1/operator/overview')).cells[1]).toMatchObject({
      cell: 'us',
      cause: 'invalid_answer',
    });
    expect((await search(first, 'x')).cells[1]).toMatchObject({ cell: 'us', cause: 'invalid_answer' });
  });

  test('is unreachable if nobody listens', async () => {
    const gone = await startFakeCell('us', () => {});
    await gone.stop();
    first.knows([gone]);
    expect((await read(first, '/v1/operator/overview')).cells[1]).toMatchObject({ cause: 'unreachable' });
  });

  test('is in the log once until it answers again, without its key', async () => {
    let isWell = false;
    const real = await read(eu, '/v1/operator/overview?cells=own');
    const other = await fake('eu', (response) =>
      response.writeHead(isWell ? 200 : 500).end(JSON.stringify(real)),
    );
    first.knows([other]);
    const from = first.logLines.length;
    for (let i = 0; i < 3; i++) await read(first, '/v1/operator/overview');
    isWell = true;
    for (let i = 0; i < 3; i++) await read(first, '/v1/operator/overview');
    const lines = first.logLines.slice(from).filter((line) => line.includes('the cell'));
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'the cell "eu" did not answer',
      'the cell "eu" answers again',
    ]);
    expect(lines.join()).not.toContain(other.key);
    const { cellRequestCount } = first.service.metrics;
    const { values } = await cellRequestCount.get();
    expect(values.some(({ labels }) => labels.cell === 'eu' && labels.outcome === 'failed')).toBe(true);
  });

  test('is left alone for a while if it hangs, so that not every request waits for it', async () => {
    const hanging = await fake('us', () => {});
    first.knows([hanging], { timeoutMs: 1_000, pauseMs: 3_600_000 });
    for (let i = 0; i < 3; i++) {
      expect((await read(first, '/v1/operator/overview')).cells[1]).toMatchObject({ cause: 'timeout' });
    }
    expect(hanging.asked).toHaveLength(1);
  });

  test('holds up nobody else: while many operators wait for it, all database connections are free', async () => {
    const hanging = await fake('us', () => {});
    first.knows([hanging], { timeoutMs: 3_600_000 });
    const abort = new AbortController();
    const waiting = Array.from({ length: 40 }, () =>
      fetch(`${first.url}/v1/operator/overview`, {
        headers: { authorization: `Bearer ${first.operatorKey}` },
        signal: abort.signal,
      }).catch(() => null),
    );
    await until(
      async () => hanging.asked.length,
      (count) => count >= 16,
    );
    expect((await call(first, 'GET', '/v1/esims')).status).toBe(200);
    await until(
      async () => first.db.pool.totalCount - first.db.pool.idleCount,
      (busy) => busy === 0,
    );
    expect(hanging.asked).toHaveLength(16); // connections
    abort.abort();
    first.knows([]);
    await Promise.all(waiting);
  });
});
