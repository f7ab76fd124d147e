import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditAction } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../src/config/version.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { createSignals } from '../../src/platform/db/signals.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { until } from '../support/until.ts';

const key32 = Buffer.alloc(32, 1).toString('base64');
let database: { url: string; drop(): Promise<void> };
let folder: string;
let env: Record<string, string>;
let server: ServerProcess;

beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'simplane-operator-'));
  env = {
    DATABASE_URL: database.url,
    SIMPLANE_MODE: 'live',
    SIMPLANE_ENCRYPTION_KEYS: key32,
  };
  server = await spawnServer(env);
});
afterAll(async () => {
  expect(await server.end('SIGTERM')).toBe(0);
  await database.drop();
  await rm(folder, { recursive: true });
});

async function run(...args: string[]) {
  return runInProcess(args, env);
}

async function runJson(...args: string[]) {
  return jsonOf(await run(...args, '--json'));
}

/** The first use of a kind of command is a process of its own. */
async function runProcess(...args: string[]) {
  return runCommand(args, env);
}

async function runProcessJson(...args: string[]) {
  return jsonOf(await runProcess(...args, '--json'));
}

function jsonOf({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) {
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

async function actionsOnCommandLine(): Promise<AuditAction[]> {
  const db = openDatabase({ connectionString: database.url, poolSize: 1, onError: () => {} });
  try {
    const text = `select action from audit_log where actor_type = 'command_line' order by id`;
    const rows = await db.query<{ action: AuditAction }>({ name: 'test_audit', text });
    return rows.map(({ action }) => action);
  } finally {
    await db.end();
  }
}

const product = {
  id: 'acme-eu-5',
  name: 'Acme Europe 5 GB',
  countries: ['DE', 'FR'],
  data_bytes: 5_000_000_000,
  validity_days: 30,
  price: { amount: 999, currency: 'eur' },
  speeds: ['4G'],
};
const typed = { ...product, profile_type: 'ACME-EU' };

async function catalogFile(content: unknown): Promise<string> {
  const path = join(folder, 'catalog.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('a new live deployment', () => {
  test('prints no key, and doctor reports what is missing', async () => {
    expect(server.output()).not.toContain('sp_');
    const { code, stdout } = await runProcess('doctor', '--json');
    const findings = JSON.parse(stdout);
    const verdicts = Object.fromEntries(
      findings.map((f: { check: string; verdict: string }) => [f.check, f.verdict]),
    );
    expect(verdicts).toMatchObject({
      node: 'ok',
      database: 'ok',
      durability: 'problem', // the tests’ PostgreSQL runs with fsync off
      schema: 'ok',
      accounts: 'warning',
      catalog: 'warning',
    });
    expect(code).toBe(1);
  });

  test('gets accounts, keys and a catalog from the command line, and serves them', async () => {
    expect((await runProcess('keys', 'create')).stderr).toContain('there is no account yet');
    const [account] = await runProcessJson('accounts', 'create', '--name', 'Acme Travel');
    const [{ key }] = await runProcessJson('keys', 'create', '--name', 'Backend', '--expires-in', '90d');
    expect(key).toMatch(/^sp_live_[0-9A-Za-z]{38}$/);
    const me = await call({ url: server.url, key }, 'GET', '/v1/me');
    expect(me.json).toMatchObject({
      account: { id: account.id, name: 'Acme Travel' },
      mode: 'live',
      livemode: true,
      api_key: { scopes: ['read', 'write'] },
    });

    expect(await runProcessJson('catalog', 'import', await catalogFile([typed]))).toEqual([
      { inserted: 1, updated: 0 },
    ]);
    const told = await actionsOnCommandLine();
    expect(await runJson('catalog', 'import', await catalogFile([typed]))).toEqual([
      { inserted: 0, updated: 1 },
    ]);
    expect(await actionsOnCommandLine()).toEqual(told); // nothing changed
    const listed = await call({ url: server.url, key }, 'GET', '/v1/products');
    expect(listed.json.data).toMatchObject([{ ...product, object: 'product', active: true }]);
    expect((await provision({ url: server.url, key }, 'k', { product_id: 'acme-eu-5' })).status).toBe(202);

    const changed = { ...product, active: false };
    expect(await runJson('catalog', 'import', await catalogFile({ products: [changed] }))).toEqual([
      { inserted: 0, updated: 1 },
    ]);
    expect((await call({ url: server.url, key }, 'GET', '/v1/products')).json.data).toEqual([]);

    const [{ key: operatorKey }] = await runJson('keys', 'create', '--scopes', 'operator');
    const log = await call(
      { url: server.url, key: operatorKey },
      'GET',
      '/v1/operator/audit_log?action=product.updated',
    );
    expect(log.json.data).toMatchObject([
      { actor: { type: 'command_line' }, target: { id: 'acme-eu-5' }, account_id: null, request_id: null },
    ]);
    expect(await runJson('catalog', 'list')).toMatchObject([
      { id: 'acme-eu-5', object: 'product', active: false, listed: true, profile_type: null },
    ]);
    await runJson('catalog', 'import', await catalogFile([typed]));
    expect(await runJson('catalog', 'deactivate', 'acme-eu-5')).toMatchObject([{ active: false }]);
    expect((await run('catalog', 'deactivate', 'none')).stderr).toBe('No product has the id "none".\n');

    const [{ id }] = await runJson('keys', 'list', '--account', account.id);
    const [rolled] = await runJson('keys', 'roll', id, '--expires-in', '1h');
    expect(rolled).toMatchObject({ name: 'Backend', key: expect.stringMatching(/^sp_live_/) });
    expect((await call({ url: server.url, key: rolled.key }, 'GET', '/v1/me')).status).toBe(200);
    expect((await run('keys', 'revoke', id)).stdout).toContain(id);
    const limits = ['--max-open-executions', '5', '--requests-per-second', 'none'];
    expect(await runJson('accounts', 'update', account.id, '--status', 'suspended', ...limits)).toMatchObject(
      [{ id: account.id, status: 'suspended', max_open_executions: 5 }],
    );
    await run('accounts', 'update', account.id, '--status', 'active', '--max-open-executions', 'none');
    expect(await actionsOnCommandLine()).toEqual([
      'account.created',
      'api_key.created',
      'product.updated',
      'product.deactivated',
      'api_key.created',
      'product.updated',
      'product.deactivated',
      'api_key.rolled',
      'api_key.revoked',
      'account.updated',
      'account.updated',
    ]);
  });

  test('shows its processes, networks, stock, failing endpoints and an overview, as tables and as JSON', async () => {
    const processes = await runJson('processes');
    expect(processes).toMatchObject([{ object: 'process', role: 'all', pid: server.pid }]);
    expect((await runProcess('processes')).stdout).toMatch(/^ID +ROLE +VERSION +HOST[^\n]*\nproc_\w+ +all /);
    expect(await runJson('overview')).toMatchObject({
      object: 'operator_overview',
      backlogs: { executions: { count: 1 } },
    });
    expect((await run('overview')).stdout).toMatch(
      /^RATE +LAST_MINUTE[\s\S]*BACKLOG +COUNT[\s\S]*accepted \(last day\) +1/,
    );
    for (const command of [['networks'], ['stock'], ['endpoints', 'failing']]) {
      expect(await runJson(...command)).toEqual([]);
    }
  });

  test('executions are listed, shown, retried and resolved on the command line, which the audit log shows', async () => {
    const [{ key }] = await runJson('keys', 'create', '--name', 'Orders');
    await runJson('catalog', 'import', await catalogFile([typed]));
    const { json: order } = await provision({ url: server.url, key }, 'cli', { product_id: 'acme-eu-5' });
    const listed = await run('executions', 'list', '--status', 'queued');
    expect(listed.stdout).toMatch(/^ID +ACCOUNT +TYPE +STATUS +ERROR +ATTEMPTS +CREATED +NEXT_ATTEMPT\n/);
    expect(listed.stdout).toContain(order.id);
    expect((await run('executions', 'list', '--status', 'lost')).stderr).toContain('--status takes one of');
    const shown = await run('executions', 'show', order.id);
    expect(shown.stdout).toMatch(/waiting for +It was accepted .*doctor/);
    const db = openDatabase({ connectionString: database.url, poolSize: 1, onError: () => {} });
    const signals = createSignals({ db, connectionString: database.url, onError: () => {} });
    let heard: (string | undefined)[] = [];
    signals.on('executions', (subject) => void heard.push(subject));
    const sayThere = { name: 'test_notify', text: `select pg_notify('simplane', 'executions there')` };
    await expect.poll(async () => (await db.query(sayThere)) && heard).toContain('there');
    expect(await runProcessJson('executions', 'retry', order.id)).toMatchObject([{ id: order.id }]);
    await expect.poll(() => heard, { timeout: 60_000 }).toContain(undefined);

    await db.query(
      {
        name: 'test_fail',
        text: `
with gone as (delete from execution_queue where id = $1 returning *)
insert into executions (account_id, id, type, status, product_id, input, error, attempts, created_at, finished_at)
select account_id, id, type, 'failed', product_id, input, $2, 1, created_at, now() from gone`,
      },
      [
        uuidOfId('exec', order.id),
        { code: 'outcome_unknown', message: 'The answer was lost.', retryable: false },
      ],
    );
    const decision = ['--outcome', 'reserved', '--iccid', '8988303000000000101', '--then', 'adopt'];
    const wrong = await run('executions', 'resolve', order.id, '--outcome', 'reserved');
    expect(wrong.stderr).toContain('iccid is required');
    heard = [];
    const [resolved] = await runJson('executions', 'resolve', order.id, ...decision);
    await expect.poll(() => heard, { timeout: 60_000 }).toContain(undefined);
    expect(resolved.resolution).toMatchObject({
      status: 'closed',
      decided_by: { type: 'command_line', id: null },
    });
    const next = await run('executions', 'show', resolved.retried_by);
    expect(next.stdout).toMatch(new RegExp(`retry of +${order.id}`));
    expect((await run('executions', 'resolve', order.id, ...decision)).stderr).toContain('already');
    const audited = await db.query(
      {
        name: 'test_audit',
        text: 'select action, actor_type from audit_log where target_id = $1 order by id',
      },
      [order.id],
    );
    await signals.stop();
    await db.end();
    expect(audited).toEqual([
      { action: 'esim.ordered', actor_type: 'api_key' },
      { action: 'execution.retried', actor_type: 'command_line' },
      { action: 'execution.resolved', actor_type: 'command_line' },
    ]);
  });

  test('gives the link to an account’s dashboard every scope but `network`, which reaches all accounts', async () => {
    const [{ id: account }] = await runJson('accounts', 'list');
    expect((await runProcess('dashboard-link', '--account', account)).code).toBe(0);
    const keys: { name: string; scopes: string }[] = await runJson('keys', 'list', '--account', account);
    const ofLink = keys.find(({ name }) => name === 'Dashboard link');
    expect(ofLink?.scopes.split(',').sort()).toEqual(['admin', 'install', 'read', 'write']);
  });

  test('refuses a sandbox process on its database', async () => {
    const { code, stderr } = await runCommand(['serve'], { DATABASE_URL: database.url });
    expect(code).toBe(1);
    expect(stderr).toContain('belongs to a live deployment');
  });

  test('refuses test keys', async () => {
    const reply = await call({ url: server.url, key: `sp_test_${'a'.repeat(38)}` }, 'GET', '/v1/me');
    expect(reply.json.error.code).toBe('api_key_wrong_mode');
  });

  test('limits the rate of a key by default, and states the limit in headers', async () => {
    const [{ key }] = await runJson('keys', 'create', '--name', 'Eager');
    const { headers } = await call({ url: server.url, key }, 'GET', '/v1/me');
    expect(headers.get('RateLimit-Policy')).toBe('"key";q=200;w=2');
    expect(headers.get('RateLimit')).toBe('"key";r=199;t=1');
  });
});

describe('catalog import', () => {
  test('refuses the whole file if a row is wrong, and says what is wrong in every row', async () => {
    const file = await catalogFile([
      { ...typed, id: 'fine' },
      { ...product, id: 'no spaces please' },
      { ...product, id: 'dear', price: { amount: '9.99', currency: 'EUR' } },
      { ...product, id: 'fine' },
      { ...product, id: 'odd', colour: 'red' },
      { id: 'bare' },
      'not a product',
    ]);
    const { code, stderr } = await run('catalog', 'import', file);
    expect(code).toBe(1);
    for (const expected of [
      'nothing was changed',
      'row 2 (no spaces please): id must match pattern',
      'row 3 (dear): price.amount must be integer',
      'row 3 (dear): price.currency must match pattern',
      'row 4 (fine): the id is already used in row 1',
      'row 5 (odd): "colour" is not a field of a product',
      "row 6 (bare): must have required property 'name'",
      'row 7: must be object',
    ]) {
      expect(stderr).toContain(expected);
    }
    const [{ key }] = await runJson('keys', 'create');
    expect((await call({ url: server.url, key }, 'GET', '/v1/products/fine')).status).toBe(404);
  });

  test.each(['{"products": 5}', '[]', 'id,name\n1,2'])('refuses %j and changes nothing', async (text) => {
    const { code, stderr } = await run('catalog', 'import', await catalogFile(text));
    expect([code, stderr.includes('nothing was changed')]).toEqual([1, true]);
  });

  test('refuses an active product that no order could get a profile for, and says what to add', async () => {
    const file = await catalogFile([
      { ...typed, id: 'has-a-type' },
      { ...product, id: 'has-none' },
      { ...product, id: 'is-null', profile_type: null },
      { ...product, id: 'not-sold', active: false },
    ]);
    const { code, stderr } = await run('catalog', 'import', file);
    expect([code, stderr.includes('nothing was changed')]).toEqual([1, true]);
    expect(stderr.match(/row \d \([a-z-]+\): profile_type is missing/g)).toEqual([
      'row 2 (has-none): profile_type is missing',
      'row 3 (is-null): profile_type is missing',
    ]);
    expect(stderr).toContain('Add "profile_type"');
    expect(stderr).toContain('SIMPLANE_ICCID_RANGES');
    // With our own ICCIDs, an order names the profile by its number.
    const ranged = await runInProcess(['catalog', 'import', file], {
      ...env,
      SIMPLANE_ICCID_RANGES: '8988303',
    });
    expect([ranged.code, ranged.stderr]).toEqual([0, '']);
  });

  test('names a missing file', async () => {
    const { code, stderr } = await run('catalog', 'import', '/nowhere.json');
    expect([code, stderr]).toEqual([1, 'cannot read /nowhere.json: ENOENT\n']);
  });
});

describe('the audit log', () => {
  /** Every command that changes something, with its entry. */
  const audited: Record<string, AuditAction | AuditAction[]> = {
    'accounts create': 'account.created',
    'accounts update': 'account.updated',
    'accounts close': 'account.closed',
    'accounts erase': 'account.erasure_requested',
    'accounts export': 'account.viewed',
    'keys create': 'api_key.created',
    'keys revoke': 'api_key.revoked',
    'keys roll': 'api_key.rolled',
    'dashboard-link': ['api_key.created', 'session.link_created'],
    'executions retry': 'execution.retried',
    'executions resolve': 'execution.resolved',
    'catalog import': 'product.updated',
    'catalog deactivate': 'product.deactivated',
    'core resync': 'core.resync_started',
    reseal: 'secrets.reseal_started',
  };
  /** These read, or start the service, or migrate, which changes nothing that an account has. */
  const unaudited = [
    ...[
      'serve',
      'migrate',
      'accounts list',
      'keys list',
      'executions list',
      'executions show',
      'catalog list',
    ],
    ...['overview', 'processes', 'networks', 'stock', 'endpoints failing', 'core changes', 'doctor'],
  ];

  async function commandsOf(...group: string[]): Promise<string[]> {
    const { stdout } = await run(...group, '--help');
    const [, list = ''] = stdout.split('Commands:\n');
    const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
    const known = names.filter((name) => name !== 'help');
    if (known.length === 0) return [group.join(' ')];
    const all: string[] = [];
    for (const name of known) all.push(...(await commandsOf(...group, name)));
    return all;
  }

  test('names the commands of this server: each that changes something, and no other', async () => {
    // That of a move needs two cells: `faults/moved-accounts`.
    expect((await commandsOf()).sort()).toEqual(
      [...Object.keys(audited), ...unaudited, 'accounts move'].sort(),
    );
  });

  test('has an entry of all that a command has done, and none of one that is refused', async () => {
    const before = await actionsOnCommandLine();
    expect((await run('dashboard-link', '--operator')).code).toBe(0);
    expect((await runProcess('reseal')).code).toBe(0);
    expect((await runProcess('reseal', '--lost-key', 'unknown')).code).toBe(1);
    expect((await run('core', 'resync')).code).toBe(1);
    const core = { SIMPLANE_CORE_URL: 'https://core.example', SIMPLANE_CORE_SECRET: 'a'.repeat(32) };
    expect((await runCommand(['core', 'resync'], { ...env, ...core })).code).toBe(0);
    expect((await run('accounts', 'update', 'acct_1', '--name', 'None')).code).toBe(1);
    expect((await run('accounts', 'close', 'acct_1')).stderr).toBe('no account has the id "acct_1"\n');
    const [gone] = await runJson('accounts', 'create', '--name', 'Gone');
    expect(await runJson('accounts', 'close', gone.id, '--terminate-esims')).toMatchObject([
      { id: gone.id, status: 'closed' },
    ]);
    const { stdout } = await runProcess('accounts', 'export', gone.id, '--out', '-');
    expect(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { object: 'account', id: gone.id, status: 'closed' },
      ...['account.viewed', 'account.closed', 'account.created'].map((action) => ({
        ...{ object: 'audit_entry', action },
      })),
    ]);
    expect((await run('accounts', 'export', 'acct_1', '--out', '-')).code).toBe(1);
    expect((await run('accounts', 'erase', 'acct_1')).code).toBe(1);
    expect(await runProcessJson('accounts', 'erase', gone.id)).toMatchObject([
      { account: gone.id, object: 'erasure', status: expect.any(String) },
    ]);
    const after = await actionsOnCommandLine();
    expect(after.slice(before.length)).toEqual([
      'api_key.created',
      'session.link_created',
      'secrets.reseal_started',
      'core.resync_started',
      'account.created',
      'account.closed',
      'account.viewed',
      'account.erasure_requested',
    ]);
    expect([...new Set(after)].sort()).toEqual([...new Set(Object.values(audited).flat())].sort());
  });
});

test('--version prints the version', async () => {
  expect(await runProcess('--version')).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('a mistyped command', () => {
  test.each([
    [['keys', 'revoke', 'key_1'], 'no key has the id "key_1"'],
    [
      ['keys', 'create', '--scopes', 'read,wirte'],
      '"wirte" is not a scope; there are read, write, network, admin, install',
    ],
    [['keys', 'create', '--expires-in', 'soon'], '--expires-in takes a duration'],
    [['keys', 'create', '--account', 'acct_x'], 'no account has the id "acct_x"'],
    [['keys', 'create', '--allowed-cidrs', '10.0.0.1'], '--allowed-cidrs takes up to 20 networks'],
    [['accounts', 'update', 'acct_1', '--status', 'off'], '--status takes active or suspended'],
    [
      ['accounts', 'update', 'acct_1', '--max-open-executions', 'few'],
      'takes a whole number from 0, or none',
    ],
    [['serv'], 'unknown command'],
  ])('%j gets an error that says what to change', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });

  test('doctor reports a database that it cannot reach', async () => {
    const { code, stdout } = await runInProcess(['doctor', '--json'], {
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ check: 'database', verdict: 'problem' }),
    );
  });
});

describe('doctor on workers', () => {
  test('reports due work that nobody takes, and that a worker takes it', async () => {
    const own = await cloneDatabase();
    const key = 'sp_test_waits_for_a_worker';
    const sandbox = { DATABASE_URL: own.url, SIMPLANE_API_KEY: key, SIMPLANE_ENCRYPTION_KEYS: key32 };
    const look = async () => {
      const { stdout } = await runInProcess(['doctor', '--json'], sandbox);
      return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'workers');
    };
    const api = await spawnServer({ ...sandbox, SIMPLANE_ROLE: 'api' });
    expect(await look()).toMatchObject({
      verdict: 'warning',
      says: expect.stringContaining('none is connected'),
    });
    expect((await provision({ url: api.url, key })).status).toBe(202);
    expect(await look()).toMatchObject({
      verdict: 'problem',
      says: expect.stringMatching(
        /^none is connected and executions have been due for \d+ s; start a process with/,
      ),
    });
    const worker = await spawnServer({ ...sandbox, SIMPLANE_ROLE: 'worker' });
    expect(await until(look, ({ verdict }) => verdict === 'ok')).toMatchObject({
      says: '1 connected; nothing is overdue',
    });
    expect(await Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')])).toEqual([0, 0]);
    await own.drop();
  });
});
