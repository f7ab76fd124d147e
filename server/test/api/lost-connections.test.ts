import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { operation } from '@simplane/contract';
import pg from 'pg';
import { Type } from 'typebox';
import { expect, inject, test } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { isUnavailable } from '../../src/platform/db/unavailable.ts';
import { call, provision } from '../support/client.ts';
import { apiWith, startService } from '../support/service.ts';

const hang = operation({
  method: 'POST',
  path: '/v1/hang',
  tag: 'Probes',
  summary: 'A write',
  description: 'A write that holds its transaction open',
  scope: 'write',
  audit: { action: 'esim.updated', target: 'esim' },
  status: 200,
  response: Type.Object({}),
  refusals: [],
});

test('connections cut during transactions fail only their own requests, with 503', async () => {
  let begun = 0;
  let markCut = () => {};
  const areCut = new Promise<void>((resolve) => {
    markCut = resolve;
  });
  const handler = async (tx: Queryable) => {
    begun += 1;
    // Half of them are cut while a statement runs, half while the transaction is idle.
    if (begun % 2 === 0) await tx.query({ name: 'test_sleep', text: 'select pg_sleep(30)' });
    else await areCut;
    await tx.query({ name: 'test_one', text: 'select 1' });
    return { body: {} };
  };
  const service = await startService({ api: apiWith({ operations: { hang }, handlers: { hang: handler } }) });
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    // As many as one account runs at once.
    const running = Array.from({ length: 4 }, () => call(service, 'POST', '/v1/hang'));
    await expect.poll(() => begun).toBe(4);
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    markCut();
    const replies = await Promise.all(running);
    expect(replies.map(({ status, json }) => [status, json.error.code])).toEqual(
      Array(4).fill([503, 'unavailable']),
    );
    expect((await provision(service)).status).toBe(202);
  } finally {
    await client.end();
    await service.stop();
  }
});

test('a connection that is cut during a statement without a transaction fails the statement, not the process', async () => {
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/postgres';
  const db = openDatabase({ connectionString: url.href, poolSize: 1, onError: () => {} });
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const name = 'test_sleep_alone';
    const sleeping = db
      .query({ name, text: 'select pg_sleep(240), 7 as alone' })
      .catch((error: unknown) => error);
    const cut = async () => {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(240), 7 as alone'`,
      );
      return rowCount;
    };
    await expect.poll(cut).toBe(1);
    expect(isUnavailable(await sleeping)).toBe(true);
    expect(await db.query({ name: 'one', text: 'select 1 as n' })).toEqual([{ n: 1 }]);
  } finally {
    await client.end();
    await db.end();
  }
});

test('a connection that ends in its first ready packet fails its transaction, not the process', async () => {
  const url = new URL(inject('postgresUrl'));
  const socketFolder = url.searchParams.get('host');
  const { hostname: host, port: serverPort } = url;
  const ready = Buffer.from('5a0000000549', 'hex');
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', ''];
  const text = Buffer.from(`${fields.join('\0')}\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length + 4);
  const fatalError = Buffer.concat([Buffer.from('E'), length, text]);
  let connections = 0;
  // A proxy that adds a fatal error to the first ReadyForQuery, on every connection but the last.
  const proxy = createServer((client) => {
    const isCut = ++connections <= 3;
    const server = socketFolder
      ? connect(`${socketFolder}/.s.PGSQL.5432`)
      : connect({ host, port: Number(serverPort) });
    client.pipe(server);
    server.on('data', (chunk) => {
      const isReady = isCut && chunk.subarray(-ready.length).equals(ready);
      client.write(isReady ? Buffer.concat([chunk, fatalError]) : chunk);
      if (isReady) client.end();
    });
    for (const side of [client, server]) side.on('error', () => {});
    client.on('close', () => server.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  url.host = `127.0.0.1:${port}`;
  url.pathname = '/postgres';
  url.search = '?sslmode=disable';
  const db = openDatabase({ connectionString: url.href, poolSize: 1, onError: () => {} });
  const one = () => db.transaction((tx) => tx.query<{ n: number }>({ name: 'one', text: 'select 1 as n' }));
  try {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const refused = await one().catch((error: unknown) => error);
      expect(isUnavailable(refused), String(refused)).toBe(true);
    }
    expect(await one()).toEqual([{ n: 1 }]);
  } finally {
    await db.end();
    proxy.close();
  }
});
