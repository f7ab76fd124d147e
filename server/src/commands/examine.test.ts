import { beforeEach, expect, test, vi } from 'vitest';
import type { Config } from '../config/settings.ts';
import type { Connection } from '../platform/db/connect.ts';
import { countWorkers, readHostStates, receivesNotifications } from '../platform/db/examine-server.ts';
import { missingRoleSettings } from '../platform/db/prepare-database.ts';
import { readQueues } from '../platform/db/queues.ts';
import { type ReportRow, readReports } from '../platform/processes/read-reports.ts';
import { examineClocks } from './examine-clocks.ts';
import { examineConnection, examineHosts } from './examine-connection.ts';
import { examineWorkers } from './examine-workers.ts';

vi.mock(import('../platform/db/examine-server.ts'), async (original) => ({
  ...(await original()),
  countWorkers: vi.fn(),
  readHostStates: vi.fn(),
  receivesNotifications: vi.fn(),
}));
vi.mock(import('../platform/db/prepare-database.ts'), async (original) => ({
  ...(await original()),
  missingRoleSettings: vi.fn(),
}));
vi.mock(import('../platform/db/queues.ts'), async (original) => ({
  ...(await original()),
  readQueues: vi.fn(),
}));
vi.mock(import('../platform/processes/read-reports.ts'), async (original) => ({
  ...(await original()),
  readReports: vi.fn(),
}));

const db = {} as Connection['db'];
const direct = { db, isPooled: false, isOnlyUser: false } as Connection;
const config = { databaseDirectUrl: null } as Config;

beforeEach(() => {
  vi.mocked(missingRoleSettings).mockResolvedValue([]);
});

const text = ({ verdict, says }: { verdict: string; says: string }) => `${verdict}: ${says}`;

type Given = {
  workers?: number;
  executions?: number;
  deliveries?: number;
  connection?: Partial<Connection>;
  directUrl?: string;
};

/** What `doctor` says of workers, if orders and webhooks have been due for so many seconds. */
async function ofWorkers({
  workers = 0,
  executions = 0,
  deliveries = 0,
  connection,
  directUrl,
}: Given): Promise<string> {
  vi.mocked(countWorkers).mockResolvedValue(workers);
  vi.mocked(readQueues).mockResolvedValue([
    { queue: 'executions', oldest_due_seconds: executions },
    { queue: 'deliveries', oldest_due_seconds: deliveries },
  ]);
  const settings = { ...config, databaseDirectUrl: directUrl ?? null };
  return text(await examineWorkers({ ...direct, ...connection }, settings));
}

test.each<[Given, string]>([
  [{ workers: 2 }, 'ok: 2 connected; nothing is overdue'],
  [{ workers: 2, executions: 9.9 }, 'ok: 2 connected; nothing is overdue'],
  [
    { workers: 2, executions: 10, deliveries: 9 },
    'problem: 2 connected, but executions have been due for 10 s; check their logs',
  ],
  [
    { workers: 1, executions: 119.4, deliveries: 120 },
    'problem: 1 connected, but executions have been due for 119 s, deliveries have been due for 2 min',
  ],
  [
    { workers: 1, executions: 7_199, deliveries: 7_200 },
    'problem: 1 connected, but executions have been due for 120 min, deliveries have been due for 2 h',
  ],
  [{}, 'warning: none is connected, so new orders will wait; start a process'],
  [{ deliveries: 1 }, 'problem: none is connected and deliveries have been due for 1 s; start a process'],
  [{ connection: { isOnlyUser: true } }, 'ok: the service is not running; nothing is due'],
  [
    { deliveries: 3, connection: { isOnlyUser: true } },
    'warning: deliveries have been due for 3 s; they continue when the service starts',
  ],
  [{ connection: { isPooled: true } }, 'ok: cannot be counted behind a pooler; nothing is overdue'],
  [
    { connection: { isPooled: true }, directUrl: 'postgres://direct' },
    'warning: none is connected, so new orders will wait',
  ],
])('doctor says what waits for workers: %j', async (given, says) => {
  expect(await ofWorkers(given)).toContain(says);
});

test('doctor names the processes whose clocks are off, and says that all are right', async () => {
  const reports = (...skews: (number | undefined)[]) =>
    vi.mocked(readReports).mockResolvedValue(
      skews.map(
        (ms, n) =>
          ({
            id: `0000000${n}-0000-4000-8000-000000000000`,
            host: `node-${n}`,
            report: { clock_skew_ms: ms },
          }) as unknown as ReportRow,
      ),
    );
  reports();
  expect(await examineClocks(db)).toEqual([]);
  reports(2_000, -2_000, undefined);
  expect((await examineClocks(db)).map(text)).toEqual(['ok: all 3 are right by the database’s clock']);
  reports(2_600, 0, -31_400);
  const [found] = await examineClocks(db);
  expect(found && text(found)).toMatch(
    /^warning: proc_\w+ on node-0 is 3 s ahead, proc_\w+ on node-2 is 31 s behind; run NTP/,
  );
});

test('doctor looks at each server if several are named', async () => {
  const host = { label: 'a:5432', isStandby: false, isReadOnly: false, version: '18.1' };
  const named = { ...config, databaseUrl: 'postgres://a,b/simplane' } as Config;
  const hosts = (...given: object[]) => vi.mocked(readHostStates).mockResolvedValue(given as never);
  hosts(host);
  expect(await examineHosts(named)).toEqual([]);
  hosts(
    host,
    { ...host, label: 'b', isStandby: true, isReadOnly: true },
    { ...host, label: 'c', isReadOnly: true },
    { label: 'd', unreachable: 'ECONNREFUSED' },
  );
  expect((await examineHosts(named)).map(text)).toEqual([
    ...[
      'ok: a:5432: accepts writes, PostgreSQL 18.1',
      'ok: b: standby, PostgreSQL 18.1',
      'ok: c: read-only, PostgreSQL 18.1',
    ],
    'warning: d cannot be reached: ECONNREFUSED',
  ]);
  vi.mocked(readHostStates).mockClear();
  expect(await examineHosts({ ...config, databaseUrl: null })).toEqual([]);
  expect(readHostStates).not.toHaveBeenCalled();
});

test('doctor says how processes hear of each other’s work', async () => {
  const found = async (connection: Partial<Connection>, databaseDirectUrl: string | null) =>
    (await examineConnection({ ...direct, ...connection }, { ...config, databaseDirectUrl })).map(text);
  expect(await found({}, null)).toEqual([]);
  expect(await found({ isPooled: true }, null)).toEqual([
    expect.stringMatching(/^ok: supports prepared statements/),
    expect.stringMatching(/^warning: work from other processes is found by polling/),
  ]);
  vi.mocked(receivesNotifications).mockResolvedValueOnce(true).mockResolvedValueOnce(false);
  expect(await found({}, 'postgres://direct')).toEqual([
    'ok: SIMPLANE_DATABASE_DIRECT_URL receives notifications',
  ]);
  expect(await found({ isPooled: true }, 'postgres://direct')).toEqual([
    expect.stringMatching(/^ok: supports/),
    expect.stringMatching(/^problem: SIMPLANE_DATABASE_DIRECT_URL receives no notifications/),
  ]);
  vi.mocked(receivesNotifications).mockRejectedValueOnce(new Error('ECONNREFUSED'));
  expect(await found({}, 'postgres://direct')).toEqual([
    'problem: cannot connect to SIMPLANE_DATABASE_DIRECT_URL: ECONNREFUSED',
  ]);
});
