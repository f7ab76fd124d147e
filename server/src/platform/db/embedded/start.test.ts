import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { settingArguments, waitUntilReady } from './start.ts';

afterEach(() => vi.restoreAllMocks());

const access = { socketDir: '/tmp/nowhere', password: null };

/** A server whose connections end as told, and which has these databases. */
function serverWith(endings: (Error | null)[], databases: string[] = []) {
  const sent: string[] = [];
  const connecting = async () => {
    const ending = endings.shift();
    if (ending) throw ending;
  };
  const asking = async (text: string, [name]: string[] = []) => {
    sent.push(text);
    return { rowCount: name !== undefined && databases.includes(name) ? 1 : 0 };
  };
  const connect = vi.spyOn(pg.Client.prototype, 'connect').mockImplementation(connecting as never);
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(asking as never);
  const end = vi.spyOn(pg.Client.prototype, 'end').mockImplementation((async () => {}) as never);
  return { sent, connect, end };
}

const withCode = (code?: string) => Object.assign(new Error('no'), code !== undefined && { code });

test('a server that is still starting is asked again, whatever it says, and each connection is ended', async () => {
  const codes = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03', undefined];
  const { sent, connect, end } = serverWith([...codes.map(withCode), null]);
  expect(await waitUntilReady(access, 'simplane', new AbortController().signal)).toBe('ready');
  expect(sent.at(-1)).toBe('create database "simplane"');
  expect([connect.mock.calls.length, end.mock.calls.length]).toEqual([7, 7]);
});

test('a database that is there is not created', async () => {
  const { sent } = serverWith([null], ['simplane']);
  await waitUntilReady(access, 'simplane', new AbortController().signal);
  expect(sent).toHaveLength(1);
});

test('a server that refuses the password is not asked again', async () => {
  const { connect } = serverWith([withCode('28P01'), null]);
  const waiting = waitUntilReady(access, 'simplane', new AbortController().signal);
  await expect(waiting).rejects.toMatchObject({ code: '28P01' });
  expect(connect).toHaveBeenCalledTimes(1);
});

test('a server that has ended is not asked again', async () => {
  const { connect } = serverWith([]);
  const over = new AbortController();
  over.abort();
  await waitUntilReady(access, 'simplane', over.signal);
  expect(connect).not.toHaveBeenCalled();
});

test('the server is reached by its private socket only, keeps what it has committed, and takes the settings of its caller', () => {
  const given = settingArguments('/tmp/pg', { max_connections: '20' });
  const pairs = given.filter((text) => text !== '-c').map((text) => text.split('='));
  const settings = Object.fromEntries(pairs);
  expect(settings).toMatchObject({
    ...{
      listen_addresses: '',
      port: '5432',
      unix_socket_permissions: '0700',
      unix_socket_directories: '/tmp/pg',
    },
    ...{ max_connections: '20', autovacuum: 'on', jit: 'off', timezone: 'UTC' },
  });
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes'])
    expect(settings).not.toHaveProperty(name);
  expect(given).toHaveLength(2 * pairs.length);
});
