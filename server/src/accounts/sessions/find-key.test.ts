import { expect, test } from 'vitest';
import type { Database } from '../../platform/db/database.ts';
import { findLiveSessions, keyHashOfLink, keyHashOfSession } from './find-key.ts';
import { sessionMs, startSession } from './start-session.ts';
import { csrfTokenOf, hashOfToken, isCsrfToken } from './token.ts';

const hash = hashOfToken('a token');
const endMs = 5_000;

/** A database with this one session, which notes what is asked. */
function databaseWith(values: unknown[][] = []): Database {
  const row = { hash: hash.toString('hex'), key_hash: 'of the key', expires_at: new Date(endMs) };
  return {
    async query({ name }: { name: string }, given: unknown[]) {
      values.push([name, ...given]);
      return name === 'sessions_find' && (given[0] as string[]).includes(row.hash) ? [row] : [];
    },
  } as unknown as Database;
}

const at = (ms: number) => ({ nowMs: () => ms });

test('a session has a key until the millisecond in which it ends, and one that nobody started has none', async () => {
  const db = databaseWith();
  expect(await keyHashOfSession(db, at(endMs - 1), hash)).toBe('of the key');
  expect(await keyHashOfSession(db, at(endMs), hash)).toBeNull();
  expect(await keyHashOfSession(db, at(0), hashOfToken('another'))).toBeNull();
});

test('of the sessions that follow a feed, those are live that have not ended', async () => {
  const [other, db] = [hashOfToken('another'), databaseWith()];
  const isLive = await findLiveSessions(db, at(endMs - 1), [other, hash]);
  expect([isLive(hash), isLive(other)]).toEqual([true, false]);
  expect((await findLiveSessions(db, at(endMs), [hash]))(hash)).toBe(false);
});

test('a link is looked for by the hash of its token, as of now', async () => {
  const asked: unknown[][] = [];
  expect(await keyHashOfLink(databaseWith(asked), at(7), 'a token')).toBeNull();
  expect(asked).toEqual([['link_find', hash, new Date(7)]]);
});

test('a session of an operator is shorter than one of an account', () => {
  expect([sessionMs({ scopes: ['read', 'admin'] }), sessionMs({ scopes: ['operator'] })]).toEqual([
    12 * 3_600_000,
    8 * 3_600_000,
  ]);
});

type Wanted = { link?: string; scopes?: 'operator'[]; expiresAtMs?: number | null };

/** What is stored for a sign-in; the link is there to be spent, or was spent already. */
async function signIn(isSpent: boolean, { link, scopes = [], expiresAtMs = null }: Wanted = {}) {
  const stored: unknown[][] = [];
  const tx = {
    async query({ name }: { name: string }, values: unknown[]) {
      stored.push([name, ...values]);
      return name === 'link_spend' && !isSpent ? [{}] : [];
    },
  };
  const db = { transaction: (work: (tx: object) => unknown) => work(tx) } as unknown as Database;
  const deps = {
    clock: at(1_000),
    newUuid: () => Buffer.alloc(16),
    cell: null,
    ip: '10.0.0.1',
    requestId: 'r',
  };
  const apiKey = { id: 'key_1', uuid: 'k', name: 'Key', scopes, last4: 'abcd', createdAt: new Date(0) };
  const signed = { account: null, apiKey, expiresAtMs };
  const started = await startSession(db, deps, signed, {
    userAgent: undefined,
    ...(link !== undefined && { link }),
  });
  return {
    started,
    names: stored.map(([name]) => name),
    spent: stored.find(([name]) => name === 'link_spend')?.[1],
    row: stored.find(([name]) => name === 'session_insert'),
  };
}

test('a link is spent before its session begins, and a spent one begins none', async () => {
  const { started, names } = await signIn(false, { link: 'a link' });
  expect(started).toMatchObject({ lastsMs: 12 * 3_600_000 });
  expect(names).toEqual(['link_spend', 'session_lock_key', 'session_insert', 'audit_insert']);
  expect(await signIn(true, { link: 'a link' })).toEqual({
    started: null,
    names: ['link_spend'],
    spent: hashOfToken('a link'),
    row: undefined,
  });
  expect((await signIn(true)).names).toEqual(['session_lock_key', 'session_insert', 'audit_insert']);
});

test('a session is stored by the hash of its token, with when it ends, which is not after its key', async () => {
  const { started, row } = await signIn(true, { scopes: ['operator'] });
  expect(row?.slice(1)).toEqual([
    ...[hashOfToken(started?.token ?? ''), '0'.repeat(32), 'k'],
    ...[new Date(1_000), new Date(1_000 + 8 * 3_600_000), '10.0.0.1', null],
  ]);
  const brief = await signIn(true, { expiresAtMs: 4_000 });
  expect([brief.started?.lastsMs, brief.row?.[5]]).toEqual([3_000, new Date(4_000)]);
});

test('the token against forged requests is that of the session, whole and nothing else', () => {
  const token = csrfTokenOf('a token');
  expect(isCsrfToken(token, 'a token')).toBe(true);
  for (const given of [csrfTokenOf('another'), token.slice(0, -1), `${token}x`, '', undefined, [token], 7])
    expect(isCsrfToken(given, 'a token')).toBe(false);
});
