import { beforeEach, expect, test, vi } from 'vitest';
import { connect } from './connect.ts';
import { type Database, openDatabase } from './database.ts';
import { connectToRunning, startEmbeddedPostgres } from './embedded/start.ts';
import { examinePooler } from './pooler.ts';
import { DatabaseUnavailable } from './unavailable.ts';

vi.mock(import('./database.ts'), async (original) => ({ ...(await original()), openDatabase: vi.fn() }));
vi.mock(import('./embedded/start.ts'), async (original) => ({
  ...(await original()),
  connectToRunning: vi.fn(),
  startEmbeddedPostgres: vi.fn(),
}));
vi.mock(import('./pooler.ts'), async (original) => ({ ...(await original()), examinePooler: vi.fn() }));

const external = 'postgresql://me:secret@a:5432,b:5433/simplane';
const options = { databaseUrl: external, dataDir: '/data', poolSize: 3, waitMs: 0, onError: () => {} };
const away = new DatabaseUnavailable('the database system is starting up');

let major: number;
/** How often the database does not answer before it does. */
let absences: number;
let pings: number;
let ended: string[];

beforeEach(() => {
  vi.clearAllMocks();
  [major, absences, pings, ended] = [18, 0, 0, []];
  vi.mocked(openDatabase).mockReturnValue({
    pool: { query: async () => ({ rows: [{ major }] }) },
    async ping() {
      pings += 1;
      if (pings <= absences) throw away;
    },
    end: async () => void ended.push('connections'),
  } as unknown as Database);
  vi.mocked(examinePooler).mockResolvedValue({ isPooled: true } as Awaited<ReturnType<typeof examinePooler>>);
  vi.mocked(connectToRunning).mockResolvedValue({ connectionString: 'postgresql://running', pid: 7 });
  vi.mocked(startEmbeddedPostgres).mockResolvedValue({
    ...{ connectionString: 'postgresql://started', dataDir: '/data/postgres', notice: 'elsewhere' },
    ...{ exited: Promise.resolve('it ended'), stop: async () => void ended.push('server') },
  });
});

test('a database that is set is used, and none is started', async () => {
  const connection = await connect(options);
  expect(connection).toMatchObject({
    connectionString: external,
    isPooled: true,
    isOnlyUser: false,
    notice: null,
  });
  expect(
    [connectToRunning, startEmbeddedPostgres].flatMap(
      (one) => vi.mocked(one as unknown as () => void).mock.calls,
    ),
  ).toEqual([]);
  await connection.close();
  expect(ended).toEqual(['connections']);
});

test('without one, a database is started in the data folder, which this process alone uses and ends', async () => {
  const connection = await connect({ ...options, databaseUrl: null });
  expect(startEmbeddedPostgres).toHaveBeenCalledWith({ dataDir: '/data', settings: {} });
  expect(connection).toMatchObject({
    connectionString: 'postgresql://started',
    isOnlyUser: true,
    notice: 'elsewhere',
  });
  expect(await connection.lost).toBe('it ended');
  expect(connectToRunning).not.toHaveBeenCalled();
  await connection.close();
  expect(ended).toEqual(['connections', 'server']);
});

test('a database for several processes allows the connections of all', async () => {
  await connect({ ...options, databaseUrl: null, embeddedConnections: 340 });
  expect(startEmbeddedPostgres).toHaveBeenCalledWith({
    dataDir: '/data',
    settings: { max_connections: '340' },
  });
});

test('a command uses the database of a running service and leaves it running, or starts it', async () => {
  const shared = await connect({ ...options, databaseUrl: null, share: true });
  expect(shared).toMatchObject({ connectionString: 'postgresql://running', isOnlyUser: false, notice: null });
  expect(startEmbeddedPostgres).not.toHaveBeenCalled();
  await shared.close();
  expect(ended).toEqual(['connections']);
  vi.mocked(connectToRunning).mockResolvedValue(null);
  expect((await connect({ ...options, databaseUrl: null, share: true })).isOnlyUser).toBe(true);
});

test('a database that starts at the same time is waited for, as long as was asked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    absences = 3;
    const connecting = connect({ ...options, waitMs: 30_000 });
    await vi.advanceTimersByTimeAsync(1_500);
    await connecting;
    expect(pings).toBe(4);

    absences = Number.POSITIVE_INFINITY;
    const waiting = connect({ ...options, waitMs: 2_000 }).catch((error: Error) => error);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await waiting).toMatchObject({
      name: 'DatabaseUnavailable',
      // Without the password.
      message: 'PostgreSQL at a:5432, b:5433 cannot be used now: the database system is starting up',
      cause: away,
    });
    expect(pings).toBe(4 + 6);
    expect(ended).toEqual(['connections']);
  } finally {
    vi.useRealTimers();
  }
});

test('what waiting does not mend is told at once, and what was started is ended', async () => {
  const refusal = new Error('password authentication failed');
  vi.mocked(examinePooler).mockRejectedValue(refusal);
  await expect(connect({ ...options, databaseUrl: null, waitMs: 30_000 })).rejects.toBe(refusal);
  expect(ended).toEqual(['connections', 'server']);
});

test('a server that is too old is refused with what is needed', async () => {
  major = 14;
  await connect(options);
  major = 13;
  await expect(connect(options)).rejects.toThrow('DATABASE_URL is PostgreSQL 13; Simplane needs 14 or newer');
});
