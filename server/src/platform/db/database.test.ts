import { EventEmitter } from 'node:events';
import pg from 'pg';
import { beforeEach, expect, test, vi } from 'vitest';
import { createConnections } from './connections.ts';
import { type Database, openDatabase } from './database.ts';
import type { Closure } from './gate.ts';
import type { InFlight } from './in-flight.ts';
import { DatabaseUnavailable } from './unavailable.ts';

vi.mock(import('./connections.ts'), async (original) => ({
  ...(await original()),
  createConnections: vi.fn(),
}));

const statement = { name: 'one', text: 'select 1' };
const refused = new pg.DatabaseError('no such table', 0, 'error');
const lost = new Error('Connection terminated unexpectedly');

/** What the only connection does with a text or a statement. */
let answer: (text: string) => Promise<{ rows: object[] }>;
let sent: string[];
let released: (Error | undefined)[];
let closure: Closure | null;
let isUsable: boolean;
let stopped: string[];
let inFlight: InFlight;
let client: EventEmitter;
let db: Database;

beforeEach(() => {
  [sent, released, stopped, closure, isUsable] = [[], [], [], null, true];
  answer = async () => ({ rows: [] });
  client = Object.assign(new EventEmitter(), {
    query(given: string | { text: string }) {
      const text = typeof given === 'string' ? given : given.text;
      sent.push(text);
      return answer(text);
    },
  });
  vi.mocked(createConnections).mockImplementation((options) => {
    inFlight = options.inFlight;
    return {
      pool: { end: async () => void stopped.push('pool') },
      availability: { closure: () => closure, stop: () => stopped.push('checks') },
      acquire: async () => client,
      release: (_: unknown, broken?: Error) => released.push(broken),
      brokenBy: (_: unknown, error: Error) => (error instanceof pg.DatabaseError ? undefined : error),
      refuseHost: () => new DatabaseUnavailable('db:5432 does not accept writes'),
      isUsable: async () => isUsable,
    } as unknown as ReturnType<typeof createConnections>;
  });
  db = openDatabase({ connectionString: '', poolSize: 1, onError: () => {} });
});

const running = () => inFlight.olderThan(-1).length;

test.each<[string, () => Promise<unknown>]>([
  ['a statement', () => db.query(statement)],
  ['a transaction', () => db.transaction((tx) => tx.query(statement))],
  ['a read with a limit of its own', () => db.queryWithin(100, statement)],
])('%s is waited for as long as it runs, and not when it has ended or failed', async (_, run) => {
  for (const end of [async () => ({ rows: [] }), () => Promise.reject(refused)]) {
    const seen: number[] = [];
    answer = (text) => {
      seen.push(running());
      return text === statement.text ? end() : Promise.resolve({ rows: [] });
    };
    await run().catch(() => {});
    expect([new Set(seen), running()]).toEqual([new Set([1]), 0]);
  }
});

test('a refused statement fails only when its connection is ready again, which then goes back to the pool', async () => {
  let ready: (result: { rows: object[] }) => void = () => {};
  answer = (text) => (text === '' ? new Promise((resolve) => (ready = resolve)) : Promise.reject(refused));
  let failed: unknown;
  const running = db.query(statement).catch((error: unknown) => (failed = error));
  await vi.waitFor(() => expect(sent).toEqual([statement.text, '']));
  expect([failed, released]).toEqual([undefined, []]);
  ready({ rows: [] });
  await running;
  expect([failed, released]).toEqual([refused, [undefined]]);
});

test('a connection that is lost behind a refused statement is not used again, and the refusal is told', async () => {
  answer = (text) => Promise.reject(text === '' ? lost : refused);
  await expect(db.query(statement)).rejects.toBe(refused);
  expect(released).toEqual([lost]);
});

test('on a connection that a statement has lost nothing more is sent', async () => {
  answer = (text) => (text === statement.text ? Promise.reject(lost) : Promise.resolve({ rows: [] }));
  await expect(db.query(statement)).rejects.toBe(lost);
  await expect(db.transaction((tx) => tx.query(statement))).rejects.toBe(lost);
  expect(sent).toEqual([statement.text, 'begin', statement.text]);
  expect(released).toEqual([lost, lost]);
});

test('a transaction whose work fails is rolled back; if that fails too, its connection is not used again', async () => {
  const work = () => db.transaction(() => Promise.reject(new Error('of the work')));
  await expect(work()).rejects.toThrow('of the work');
  expect([sent, released]).toEqual([['begin', 'rollback'], [undefined]]);
  answer = (text) => (text === 'rollback' ? Promise.reject(lost) : Promise.resolve({ rows: [] }));
  await expect(work()).rejects.toThrow('of the work');
  expect(released).toEqual([undefined, lost]);
});

test('a connection that fails between two statements of a transaction is not used again, and is listened to no longer', async () => {
  await expect(
    db.transaction(async () => {
      client.emit('error', lost);
      throw new Error('of the work');
    }),
  ).rejects.toThrow('of the work');
  expect([sent, released]).toEqual([['begin'], [lost]]);
  expect(client.listenerCount('error')).toBe(0);
});

test('a statement without an answer says for how long the database did not give one', async () => {
  answer = () => Promise.reject(new Error('Query read timeout'));
  await expect(db.query(statement)).rejects.toEqual(
    new DatabaseUnavailable('the database did not answer a statement within 15 s'),
  );
});

test('whoever asks why writes fail is not told the name of a server', () => {
  expect(db.writeTrouble()).toBeNull();
  closure = { reason: 'commits wait', admits: 'reads' };
  expect(db.writeTrouble()).toBe('commits wait');
  closure = { reason: 'db-7.internal:5432 does not answer', admits: 'nothing' };
  expect(db.writeTrouble()).toBe('no server accepts writes');
});

test('a check of the server fails if none may be used, and its connection is not used again', async () => {
  await db.ping();
  expect(released).toEqual([undefined]);
  isUsable = false;
  await expect(db.ping()).rejects.toThrow('db:5432 does not accept writes');
  expect(released[1]).toBeInstanceOf(DatabaseUnavailable);
  closure = { reason: 'db:5432 does not answer', admits: 'nothing' };
  await expect(db.ping()).rejects.toThrow('db:5432 does not answer');
  expect(released).toHaveLength(2);
});

test('the end of a database is also that of its checks', async () => {
  await db.end();
  expect(stopped).toEqual(['checks', 'pool']);
});
