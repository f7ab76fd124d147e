import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { listCatalogCommand } from '../../src/commands/catalog.ts';
import { listServiceChangesCommand } from '../../src/commands/core.ts';
import { dashboardLinkCommand } from '../../src/commands/dashboard-link.ts';
import { doctorCommand } from '../../src/commands/doctor.ts';
import { listExecutionsCommand, resolveExecutionCommand } from '../../src/commands/executions.ts';
import { createKeyCommand } from '../../src/commands/keys.ts';
import { failingEndpointsCommand } from '../../src/commands/look.ts';
import { resealCommand } from '../../src/commands/reseal.ts';
import { publishAddress } from '../../src/commands/sandbox-address.ts';
import { type Tools, withDatabase } from '../../src/commands/with-database.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { keyIdOf } from '../../src/platform/secrets/keyring.ts';
import { createLog } from '../../src/platform/telemetry/log.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed, insertUnknown, insertWaiting } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-commands-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  service = await startService();
  onTestFinished(() => service.stop());
});

async function read<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

/** As the command line has them in this mode, with these settings. */
function toolsWith(env: Record<string, string> = {}, mode: Tools['mode'] = 'live'): Tools {
  const { db, databaseUrl: connectionString, clock } = service;
  const { newUuid, cell } = service.service;
  const config = { ...readConfig({ SIMPLANE_DATA_DIR: folder, ...env }).config, mode };
  return { ...commandLine, config, mode, cell, db, connectionString, clock, newUuid };
}

async function outputOf(command: () => Promise<unknown>): Promise<{ stdout: string; stderr: string }> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const print = vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0);
  const say = vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  try {
    await command();
  } finally {
    print.mockRestore();
    say.mockRestore();
  }
  return { stdout: stdout.join(''), stderr: stderr.join('') };
}

/** What a command prints on standard output. */
const printed = async (command: () => Promise<unknown>) => (await outputOf(command)).stdout;

const keys = (accountUuid: string) =>
  read<{ expires_at: Date | null }>(
    `select expires_at from api_keys where account_id = $1 and name = 'Dashboard link'`,
    [accountUuid],
  );

test('in live, a link without --account is refused if there are several accounts', async () => {
  const link = () => printed(() => dashboardLinkCommand(toolsWith(), { operator: false }));
  expect(await link()).toMatch(/^http:\S+\n$/);
  const other = await service.createAccount('Other');
  await expect(link()).rejects.toThrow('there are several accounts: choose one');
  expect([await keys(service.accountUuid), await keys(other.accountUuid)]).toMatchObject([[{}], []]);
});

test('in a sandbox, a link without --account is to the oldest account that is open', async () => {
  const other = await service.createAccount('Other');
  const link = () => printed(() => dashboardLinkCommand(toolsWith({}, 'sandbox'), { operator: false }));
  await link();
  expect([await keys(service.accountUuid), await keys(other.accountUuid)]).toMatchObject([[{}], []]);
  await read('update accounts set closed_at = now() where id = $1', [service.accountUuid]);
  await link();
  expect([await keys(service.accountUuid), await keys(other.accountUuid)]).toMatchObject([[{}], [{}]]);
});

test('a link leads to where the sandbox of the data folder listens', async () => {
  const { remove } = await publishAddress(folder, 'http://127.0.0.1:4711', createLog('silent'));
  onTestFinished(remove);
  const tools = toolsWith({}, 'sandbox');
  const link = await printed(() => dashboardLinkCommand(tools, { operator: true }));
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:4711\//);
});

test('the key of a link ends with its session at the latest', async () => {
  const longestMs = (await import('../../src/accounts/sessions/start-session.ts')).sessionMs({
    scopes: ['read', 'write', 'admin', 'install'],
  });
  await printed(() => dashboardLinkCommand(toolsWith(), { operator: false }));
  const [key] = await keys(service.accountUuid);
  const leftMs = (key?.expires_at?.getTime() ?? Number.POSITIVE_INFINITY) - service.clock.nowMs();
  expect(leftMs).toBeLessThanOrEqual(longestMs + 10 * 60_000);
  expect(leftMs).toBeGreaterThan(longestMs);
});

test('a link is for an operator or for an account', async () => {
  const account = idOfUuid(idPrefixes.account, service.accountUuid);
  await expect(dashboardLinkCommand(toolsWith(), { operator: true, account })).rejects.toThrow('not both');
  await expect(
    dashboardLinkCommand(toolsWith({ SIMPLANE_DASHBOARD: 'off' }), { operator: true }),
  ).rejects.toThrow('the dashboard is off');
});

test('a key that writes for accounts can do what an operator’s can', async () => {
  const text = await printed(() => createKeyCommand(toolsWith(), { json: true, scopes: 'operator_write' }));
  const [{ account, scopes }] = JSON.parse(text);
  expect([account, scopes.split(',').sort()]).toEqual([null, ['operator', 'operator_write']]);
});

type Finding = { check: string; verdict: string; says: string };

async function examine(env: Record<string, string> = {}): Promise<Record<string, Finding>> {
  const { config } = toolsWith(env, 'sandbox');
  const text = await printed(() =>
    doctorCommand({ ...config, databaseUrl: service.databaseUrl }, [], { json: true }),
  );
  return Object.fromEntries(JSON.parse(text).map((finding: Finding) => [finding.check, finding]));
}

test('doctor counts the keys that work', async () => {
  const { accountUuid, clock } = service;
  await service.createKey({ accountUuid, expiresAt: new Date(clock.nowMs() - 60_000) });
  expect((await examine())['keys']).toMatchObject({ verdict: 'ok', says: '1 usable' });
  await read('update api_keys set revoked_at = now() where account_id = $1 and expires_at is null', [
    accountUuid,
  ]);
  expect((await examine())['keys']).toMatchObject({
    verdict: 'warning',
    says: expect.stringMatching(/^none usable/),
  });
});

test('doctor names each setting that can lose accepted orders', async () => {
  expect((await examine())['durability']?.says).not.toContain('synchronous_commit');
  await read(
    `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
  );
  expect((await examine())['durability']).toMatchObject({
    verdict: 'problem',
    says: expect.stringMatching(/accepted orders can be lost: turn on .*synchronous_commit/),
  });
});

test('doctor warns if the processes together need more connections than are free', async () => {
  const few = { SIMPLANE_DATABASE_POOL_SIZE: '2', SIMPLANE_PROCESSES: '1' };
  expect((await examine(few))['connections']).toMatchObject({ verdict: 'ok' });
  const many = { SIMPLANE_DATABASE_POOL_SIZE: '100', SIMPLANE_PROCESSES: '64' };
  expect((await examine(many))['connections']).toMatchObject({
    verdict: 'warning',
    says: expect.stringContaining('is 6400; raise max_connections'),
  });
});

const [first, second] = [randomBytes(32), randomBytes(32)];
const settingOf = (...list: Buffer[]) => ({
  SIMPLANE_ENCRYPTION_KEYS: list.map((key) => key.toString('base64')).join(','),
});

test('doctor calls a key removable only after a reseal with the one that is first now', async () => {
  await read('insert into sealing_keys (id) values ($1)', [keyIdOf(second)]);
  const resealedWith = (id: string) =>
    read('update sealing set old_form_refused_at = now(), resealed_at = now(), resealed_key_id = $1', [id]);
  await resealedWith(keyIdOf(second));
  const both = settingOf(first, second);
  expect((await examine(both))['secrets']).toMatchObject({
    verdict: 'warning',
    says: expect.stringContaining(`older ones may need ${keyIdOf(second)}`),
  });
  await resealedWith(keyIdOf(first));
  expect((await examine(both))['secrets']).toMatchObject({
    verdict: 'ok',
    says: expect.stringContaining(`${keyIdOf(second)} may be removed`),
  });
});

test('an endpoint that works is not in the list of failing ones', async () => {
  const create = async () => {
    const body = { url: 'https://receiver.example/', enabled_event_types: ['*'] };
    return (await call(service, 'POST', '/v1/webhook_endpoints', { body })).json.id;
  };
  const [failing] = [await create(), await create()];
  await read('update webhook_endpoints set failing_since = now() where id = $1', [
    uuidOfId(idPrefixes.webhookEndpoint, failing),
  ]);
  const text = await printed(() => failingEndpointsCommand(toolsWith(), { json: true }));
  expect(JSON.parse(text)).toMatchObject([{ id: failing }]);
});

test('the states that the core refused are listed, apart from those that it is to get', async () => {
  const queue = (iccid: string, isRefused: boolean) =>
    read(
      `insert into core_queue (account_id, iccid, id, version, service, since, due_at, is_refused)
       values ($1, $2, gen_random_uuid(), 1, '{"state": "full"}', now(), now(), $3)`,
      [service.accountUuid, iccid, isRefused],
    );
  await queue('8988303000000000101', false);
  await queue('8988303000000000102', true);
  const listed = async (state: string) =>
    JSON.parse(await printed(() => listServiceChangesCommand(toolsWith(), { json: true, state })));
  expect([await listed('pending'), await listed('refused')]).toMatchObject([
    [{ iccid: '8988303000000000101', state: 'pending' }],
    [{ iccid: '8988303000000000102', state: 'refused' }],
  ]);
});

const adopt = { json: true, outcome: 'reserved', iccid: '8988303000000000102', then: 'adopt' };

test('a mistyped ICCID is adopted only where no check digits are required', async () => {
  const adoptWith = (env: Record<string, string>, id: string) =>
    printed(() => resolveExecutionCommand(toolsWith(env), id, adopt));
  const id = await insertUnknown(service);
  await expect(adoptWith({ SIMPLANE_ES2_ICCID_CHECK: 'luhn' }, id)).rejects.toThrow(/check digit/);
  expect(JSON.parse(await adoptWith({ SIMPLANE_ES2_ICCID_CHECK: 'none' }, id))).toMatchObject([
    { id, resolution: { outcome: 'reserved', then: 'adopt' } },
  ]);
});

test('a command without a key that stored secrets need adopts no profile', async () => {
  await read('insert into sealing_keys (id) values ($1)', [keyIdOf(first)]);
  const id = await insertUnknown(service);
  const adopting = resolveExecutionCommand(toolsWith(settingOf(second)), id, adopt);
  await expect(adopting).rejects.toThrow(`stored secrets need encryption key ${keyIdOf(first)}`);
  expect(await read('select from execution_queue')).toEqual([]);
});

test('a key that is configured is not given up, and neither is one that nothing needs', async () => {
  await read('insert into sealing_keys (id) values ($1)', [keyIdOf(first)]);
  const giveUp = (key: Buffer) =>
    resealCommand(toolsWith(settingOf(first)), { json: true, lostKey: keyIdOf(key) });
  await expect(giveUp(first)).rejects.toThrow('this key is configured, so it is not lost');
  await expect(giveUp(second)).rejects.toThrow('no stored secret needs such a key');
  expect(await read('select id from sealing_keys')).toEqual([{ id: keyIdOf(first) }]);
});

test('a reseal is not complete while there is a secret that no key can read', async () => {
  await insertEsim(service);
  let code: number | undefined;
  const text = await printed(async () => {
    code = await resealCommand(toolsWith(settingOf(first)), { json: true });
  });
  expect([code, JSON.parse(text)]).toMatchObject([
    1,
    { complete: false, unreadable_count: 1, unreadable: [{ table: 'esims' }] },
  ]);
});

test('a command does not run on the database of a deployment in the other mode', async () => {
  const { config } = readConfig({ SIMPLANE_DATA_DIR: folder });
  const runs: string[] = [];
  const run = (mode: Tools['mode']) =>
    withDatabase({ ...config, mode, databaseUrl: service.databaseUrl }, async () => runs.push(mode));
  await run('sandbox');
  await expect(run('live')).rejects.toThrow('this database belongs to a sandbox deployment');
  expect(runs).toEqual(['sandbox']);
});

test('the catalog is listed whole, however many products it has', async () => {
  const before = 'select count(*)::integer as count from products';
  const [{ count } = { count: 0 }] = await read<{ count: number }>(before);
  await read(
    `insert into products (id, name, countries, validity_days, price_amount, price_currency, speeds, active, listed, created_at)
     select 'many_' || n, 'Many', '{}', 7, 1, 'eur', '{}', true, true, date_trunc('milliseconds', now()) from generate_series(1, 201) n`,
  );
  const listed = JSON.parse(await printed(() => listCatalogCommand(toolsWith(), { json: true })));
  expect(new Set(listed.map(({ id }: { id: string }) => id)).size).toBe(count + 201);
});

test('a list of executions has those that all its filters name', async () => {
  const other = await service.createAccount('Other');
  const own = await insertWaiting(service);
  const failed = await insertUnknown(service);
  const ofOther = await insertWaiting({ ...service, accountUuid: other.accountUuid });
  const account = idOfUuid(idPrefixes.account, service.accountUuid);
  const listed = async (filter: object, tools = toolsWith()) => {
    const options = { limit: '20', json: true, ...filter };
    const data = JSON.parse(await printed(() => listExecutionsCommand(tools, options)));
    return data.map(({ id }: { id: string }) => id).sort();
  };
  expect(await listed({})).toEqual([own, failed, ofOther].sort());
  expect(await listed({ account })).toEqual([own, failed].sort());
  expect(await listed({ account, status: 'queued' })).toEqual([own]);
  expect(await listed({ account, errorCode: 'outcome_unknown' })).toEqual([failed]);
  expect(await listed({ account, olderThan: '1h' })).toEqual([]);
  const later = { nowMs: () => service.clock.nowMs() + 2 * 3_600_000 };
  expect(await listed({ account, olderThan: '1h' }, { ...toolsWith(), clock: later })).toHaveLength(2);
});

test('a list that has more than the command shows says so', async () => {
  const ofExecutions = async (limit: string) =>
    (await outputOf(() => listExecutionsCommand(toolsWith(), { json: false, limit }))).stderr;
  for (let count = 0; count < 2; count++) await insertFailed(service, 'declined', null);
  expect([await ofExecutions('2'), await ofExecutions('1')]).toEqual([
    '',
    expect.stringMatching(/^there are more/),
  ]);

  const ofChanges = async () =>
    (await outputOf(() => listServiceChangesCommand(toolsWith(), { json: false, state: 'refused' }))).stderr;
  const refuse = (from: number, to: number) =>
    read(
      `insert into core_queue (account_id, iccid, id, version, service, since, due_at, is_refused)
       select $1, '8988303' || n, gen_random_uuid(), 1, '{"state": "full"}', now(), now(), true from generate_series($2::integer, $3) n`,
      [service.accountUuid, from, to],
    );
  await refuse(1, 100);
  expect(await ofChanges()).toBe('');
  await refuse(101, 101);
  expect(await ofChanges()).toMatch(/^there are more/);
});
