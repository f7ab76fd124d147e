import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { generateApiKey, hexHashOf } from '../../src/accounts/api-key-text.ts';
import {
  ensureSandboxKey,
  readOrCreateSandboxKey,
  sandboxKeyFile,
} from '../../src/accounts/ensure-sandbox-key.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const ensure = (key: string) => ensureSandboxKey(service.db, service.service, key);

/** Changes the stored key. */
const update = (key: string, change: string, at: Date) =>
  service.db.pool.query(`update api_keys set ${change} = $2 where hash = decode($1, 'hex')`, [
    hexHashOf(key),
    at,
  ]);

test('a sandbox key that was revoked or has expired stays so when its process starts again', async () => {
  const [revoked, expired] = [generateApiKey('sandbox'), generateApiKey('sandbox')];
  for (const key of [revoked, expired]) expect(await ensure(key)).toMatchObject({ kind: 'usable' });
  const at = new Date(service.clock.nowMs());
  await update(revoked, 'revoked_at', at);
  await update(expired, 'expires_at', at);
  expect(await ensure(revoked)).toMatchObject({ kind: 'revoked', at });
  expect(await ensure(expired)).toMatchObject({ kind: 'expired', at });
});

test('processes that start together create one sandbox account and one key', async () => {
  const key = generateApiKey('sandbox');
  await service.db.pool.query('update accounts set closed_at = now()');
  const holder = await service.db.pool.connect();
  let starting: ReturnType<typeof ensure>[];
  try {
    await holder.query('begin');
    await holder.query('lock table accounts in share row exclusive mode');
    starting = [ensure(key), ensure(key)];
    await untilLockIsAwaited(service, 2);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect(await Promise.all(starting)).toMatchObject([{ kind: 'usable' }, { kind: 'usable' }]);
  const { rows } = await service.db.pool.query('select name from accounts where closed_at is null');
  expect(rows).toEqual([{ name: 'Sandbox' }]);
});

test('a key file with anything but a sandbox key that is hard to guess is refused, with what to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-key-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const text of ['', 'changeme', 'sp_test_easy', generateApiKey('live')]) {
    await writeFile(sandboxKeyFile(folder), text);
    await expect(readOrCreateSandboxKey(folder, null)).rejects.toThrow('delete the file to get a new one');
  }
});

test('a new sandbox key belongs to the oldest account that is open, however the accounts lie in the table', async () => {
  const { pool } = service.db;
  await pool.query('update accounts set closed_at = now() where closed_at is null');
  const [oldest, other] = ['00000000-0000-7000-8000-000000000001', 'ffffffff-0000-7000-8000-000000000001'];
  for (const id of [other, oldest])
    await pool.query(
      `insert into accounts (id, name, api_version, created_at) values ($1, 'One of two', '2026-11-01', now())`,
      [id],
    );
  const key = generateApiKey('sandbox');
  await ensure(key);
  const owner = `select account_id from api_keys where hash = decode($1, 'hex')`;
  expect((await pool.query(owner, [hexHashOf(key)])).rows).toEqual([{ account_id: oldest }]);
});
