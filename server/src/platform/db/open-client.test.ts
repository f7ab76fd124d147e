import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseConnectionUrl } from './connection-url.ts';
import { endClient } from './end-client.ts';
import { openClient, openWritable } from './open-client.ts';
import { examineSession, type Session } from './session.ts';
import { DatabaseUnavailable } from './unavailable.ts';

vi.mock(import('./end-client.ts'), async (original) => ({ ...(await original()), endClient: vi.fn() }));
vi.mock(import('./session.ts'), async (original) => ({ ...(await original()), examineSession: vi.fn() }));

const primary: Session = { isDirect: true, isStandby: false, isReadOnly: false };
const standby: Session = { isDirect: true, isStandby: true, isReadOnly: true };
const readOnly: Session = { ...primary, isReadOnly: true };

const hostOf = (client: unknown) => (client as { host: string }).host;

/** What each host is, or why it cannot be reached. */
let hosts: Record<string, Session | Error>;
let connected: string[];
let ended: string[];

beforeEach(() => {
  [connected, ended] = [[], []];
  async function connect(this: pg.Client) {
    connected.push(this.host);
    const found = hosts[this.host];
    if (found instanceof Error) throw found;
  }
  vi.spyOn(pg.Client.prototype, 'connect').mockImplementation(connect as never);
  vi.mocked(endClient).mockImplementation(async (client) => void ended.push(hostOf(client)));
  vi.mocked(examineSession).mockImplementation(async (client) => hosts[hostOf(client)] as Session);
});
afterEach(() => vi.restoreAllMocks());

const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const refused = Object.assign(new pg.DatabaseError('password authentication failed', 0, 'error'), {
  code: '28P01',
});

const open = (url: string) => openWritable(parseConnectionUrl(url), { applicationName: 'simplane/1 check' });
const several = 'postgresql://a:5432,b:5433,c:5434/simplane';

test('of several servers the first that accepts writes is used, and the others are left', async () => {
  hosts = { a: gone, b: standby, c: primary };
  const { client, host } = await open(several);
  expect([hostOf(client), host.label, connected, ended]).toEqual([
    'c',
    'c:5434',
    ['a', 'b', 'c'],
    ['a', 'b'],
  ]);
  hosts = { a: primary, b: primary, c: primary };
  expect(hostOf((await open(several)).client)).toBe('a');
});

test('if none accepts writes, it is said of each why', async () => {
  hosts = { a: gone, b: standby, c: readOnly };
  await expect(open(several)).rejects.toEqual(
    new DatabaseUnavailable(
      'no database server accepts writes: a:5432: connect ECONNREFUSED; b:5433 is a standby; c:5434 is read-only',
    ),
  );
  expect(ended).toEqual(['a', 'b', 'c']);
  hosts = { a: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), b: standby, c: standby };
  await expect(open(several)).rejects.toThrow('accepts writes: a:5432: ECONNREFUSED; b:5433 is a standby');
});

test('a server that may be read-only is used if it is the primary that is wanted', async () => {
  hosts = { a: standby, b: readOnly };
  expect(hostOf((await open('postgresql://a,b/simplane?target_session_attrs=primary')).client)).toBe('b');
});

test('a refused login ends the search, as with libpq', async () => {
  hosts = { a: refused, b: primary, c: primary };
  await expect(open(several)).rejects.toBe(refused);
  expect([connected, ended]).toEqual([['a'], ['a']]);
});

test('of a single server the error itself is told', async () => {
  hosts = { a: gone };
  await expect(open('postgresql://a/simplane')).rejects.toBe(gone);
});

test('a connection is one that the server can name, and ends if its session cannot be examined', async () => {
  hosts = { a: standby };
  const address = parseConnectionUrl('postgresql://a/simplane?connect_timeout=7');
  const [host] = address.hosts;
  const options = { applicationName: 'simplane/1 check', queryTimeoutMs: 3_000 };
  const { client, session } = await openClient(host as NonNullable<typeof host>, address, options);
  expect(session).toBe(standby);
  expect(vi.mocked(examineSession).mock.lastCall?.[1]).toEqual({ settings: false, timeoutMs: 7_000 });
  const { connectionParameters } = client as unknown as { connectionParameters: object };
  expect(connectionParameters).toMatchObject({ application_name: 'simplane/1 check', query_timeout: 3_000 });
  // Without a listener an error would end the process.
  expect(client.listenerCount('error')).toBeGreaterThan(0);
  vi.mocked(examineSession).mockRejectedValueOnce(gone);
  await expect(openClient(host as NonNullable<typeof host>, address, options)).rejects.toBe(gone);
  expect(ended).toEqual(['a']);
});
