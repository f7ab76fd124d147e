import { exec } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { call } from '../support/client.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { until } from '../support/until.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
/** Root can also run as an ordinary user. */
const users = isRoot
  ? [{ name: 'root' }, { name: 'an ordinary user', uid: nobody, gid: nobody }]
  : [{ name: 'an ordinary user' }];

let folder: string;
/** Of the user who runs the tests. It has a database after its first use, for tests that start in any data folder. */
let usedFolder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-start-'));
  await chmod(folder, 0o755);
  usedFolder = join(folder, 'data');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(users)('as $name', ({ name, ...user }) => {
  let env: Record<string, string>;
  let first: ServerProcess;
  beforeAll(async () => {
    const home = join(folder, `home-of-${user.uid}`);
    if (user.uid !== undefined) await mkdir(home);
    if (user.uid !== undefined) await chown(home, user.uid, nobody);
    env = { SIMPLANE_DATA_DIR: user.uid === undefined ? usedFolder : join(home, 'data') };
    first = await spawnServer({ ...env, SIMPLANE_LOG_LEVEL: 'debug' }, user);
  });
  afterAll(() => first.end('SIGKILL'));

  test('the first start prints a curl command that works when pasted, and only the owner can read the key file', async () => {
    const [curl] = /curl http[\s\S]+?'\n/.exec(first.output()) ?? [''];
    const { stdout } = await promisify(exec)(`${curl.trimEnd()} --silent --fail`);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'execution', status: 'queued' });
    const keyFile = join(env['SIMPLANE_DATA_DIR'] ?? '', 'sandbox-api-key');
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    expect(first.output()).toContain(`in ${keyFile}`);
    expect(first.output()).not.toContain((await readFile(keyFile, 'utf8')).trim());
    // Nor a link that signs in with it: this output is no terminal.
    expect(first.output()).not.toContain('#link=');
    expect(first.output()).toContain('simplane-server dashboard-link');
  });

  test('a second start on the same folder fails at once and names the process that holds it', async () => {
    const second = await runCommand(['serve'], env, user);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(String(first.pid));
  });

  test('operator commands work while the service runs and while it is stopped, by SIGTERM', async () => {
    const whileRunning = await runCommand(['accounts', 'list', '--json'], env, user);
    expect(JSON.parse(whileRunning.stdout)).toHaveLength(1);
    expect(await first.end('SIGTERM')).toBe(0);
    const whileStopped = await runCommand(['accounts', 'list', '--json'], env, user);
    expect(whileStopped.stdout).toBe(whileRunning.stdout);
  });

  test('the service never prints its database password; only a database of root may have none', async () => {
    await first.end('SIGTERM');
    const file = join(env['SIMPLANE_DATA_DIR'] ?? '', 'database-password');
    const password = (await readFile(file, 'utf8').catch(() => '')).trim();
    expect([43, ...(user.uid === undefined && isRoot ? [0] : [])]).toContain(password.length);
    if (password !== '') expect(first.output()).not.toContain(password);
  });

  test('after SIGKILL the next start has the same key and every accepted order', async () => {
    await first.end('SIGTERM');
    const times = { SIMPLANE_EXECUTION_LEASE: '1s', SIMPLANE_NETWORK_TIMEOUT: '900ms' };
    const killed = await spawnServer({ ...env, ...times, SIMPLANE_MOCK_DELAY: '40ms' }, user);
    const key = (await readFile(join(env['SIMPLANE_DATA_DIR'] ?? '', 'sandbox-api-key'), 'utf8')).trim();
    const accepted = await call({ url: killed.url, key }, 'POST', '/v1/esims', {
      body: { product_id: 'prod_us_1gb_7d' },
    });
    expect(await killed.end('SIGKILL')).toBe('SIGKILL');
    const second = await spawnServer(env, user);
    const execution = await until(
      async () => (await call({ url: second.url, key }, 'GET', `/v1/executions/${accepted.json.id}`)).json,
      ({ status }) => status === 'succeeded',
    );
    expect(execution.created).toBe(accepted.json.created);
    expect(await second.end('SIGINT')).toBe(0);
  });
});

describe('the sandbox key', () => {
  async function revoke(env: Record<string, string>, secret: string): Promise<string> {
    const keys = JSON.parse((await runInProcess(['keys', 'list', '--json'], env)).stdout);
    const { id } = keys.find(({ last4 }: { last4: string }) => secret.endsWith(last4));
    expect((await runInProcess(['keys', 'revoke', id], env)).code).toBe(0);
    return id;
  }

  test('from SIMPLANE_API_KEY is not printed; the printed curl command reads it from the variable', async () => {
    const key = 'sp_test_chosen_by_its_owner';
    const server = await spawnServer({ SIMPLANE_DATA_DIR: usedFolder, SIMPLANE_API_KEY: key });
    const [curl] = /curl http[\s\S]+?'\n/.exec(server.output()) ?? [''];
    const env = { ...process.env, SIMPLANE_API_KEY: key };
    const { stdout } = await promisify(exec)(`${curl.trimEnd()} --silent --fail`, { env });
    expect(JSON.parse(stdout)).toMatchObject({ object: 'execution', status: 'queued' });
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.output()).not.toContain(key);
  });

  test('stays revoked at the next start, which prints a remedy; another key works', async () => {
    const revoked = 'sp_test_revoked_by_its_user';
    const env = { SIMPLANE_DATA_DIR: usedFolder, SIMPLANE_API_KEY: revoked };
    const first = await spawnServer(env);
    const id = await revoke(env, revoked);
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await spawnServer(env);
    const refused = await call({ url: second.url, key: revoked }, 'GET', '/v1/me');
    expect([refused.status, refused.json.error.code]).toEqual([401, 'api_key_invalid']);
    expect(second.output()).toMatch(
      new RegExp(
        `the key in SIMPLANE_API_KEY \\(${id}\\) was revoked at .+set SIMPLANE_API_KEY to another key`,
      ),
    );
    expect(second.output()).not.toContain('curl');
    expect(await second.end('SIGTERM')).toBe(0);

    const other = 'sp_test_another_one_of_its_owner';
    const third = await spawnServer({ ...env, SIMPLANE_API_KEY: other });
    expect((await call({ url: third.url, key: other }, 'GET', '/v1/me')).status).toBe(200);
    expect(await third.end('SIGTERM')).toBe(0);
  });

  test('in its file stays revoked until the file is deleted', async () => {
    const env = { SIMPLANE_DATA_DIR: usedFolder };
    const file = join(env.SIMPLANE_DATA_DIR, 'sandbox-api-key');
    const first = await spawnServer(env);
    const key = (await readFile(file, 'utf8')).trim();
    await revoke(env, key);
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await spawnServer(env);
    expect((await call({ url: second.url, key }, 'GET', '/v1/me')).status).toBe(401);
    expect(second.output()).toContain('delete the file to get a new one');
    expect(await second.end('SIGTERM')).toBe(0);

    await rm(file);
    const third = await spawnServer(env);
    const fresh = (await readFile(file, 'utf8')).trim();
    expect((await call({ url: third.url, key: fresh }, 'GET', '/v1/me')).status).toBe(200);
    expect(await third.end('SIGTERM')).toBe(0);
  });
});

describe('SIGTERM', () => {
  test('lets a request in flight finish, and then exits 0', async () => {
    const server = await spawnServer({
      SIMPLANE_DATA_DIR: usedFolder,
      SIMPLANE_API_KEY: 'sp_test_request_in_flight',
    });
    const { port } = new URL(server.url);
    const body = '{"product_id":"prod_us_1gb_7d"}';
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const head = `POST /v1/esims HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sp_test_request_in_flight\r\nContent-Type: application/json\r\n`;
    // After `100 Continue` the request is in flight.
    socket.write(`${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
    await expect.poll(() => answer).toContain('100 Continue');
    const ended = server.end('SIGTERM');
    await expect.poll(() => server.output()).toContain('"msg":"stopping"');
    socket.write(body);
    await closed;
    expect(answer).toContain('HTTP/1.1 202');
    expect(await ended).toBe(0);
  });
});

describe('settings', () => {
  test.each([
    [{ PORT: 'http' }, 'PORT takes a whole number from 0 to 65535; got "http"'],
    [{ SIMPLANE_MODE: 'production' }, 'SIMPLANE_MODE takes `sandbox`, `live`; got "production"'],
    [
      { SIMPLANE_NETWORK_TIMEOUT: '30' },
      'SIMPLANE_NETWORK_TIMEOUT takes a duration such as `500ms`, `5s`, `2h`, from `1ms` to 24 days; got "30"',
    ],
    [{ SIMPLANE_API_KEY: 'hunter2' }, 'SIMPLANE_API_KEY takes a key that begins with `sp_test_`'],
    [{ SIMPLANE_API_KEY: 'sp_test_hunter2' }, 'and has 16 to 192 more characters'],
    [{ SIMPLANE_API_KEY: `sp_test_${'x'.repeat(15)}` }, 'and has 16 to 192 more characters'],
    [
      { SIMPLANE_MODE: 'live', SIMPLANE_API_KEY: `sp_test_${'x'.repeat(16)}` },
      'SIMPLANE_API_KEY is for the sandbox',
    ],
    [{ SIMPLANE_ROLE: 'worker' }, 'SIMPLANE_ROLE=worker needs DATABASE_URL'],
    [{ SIMPLANE_MODE: 'live' }, 'SIMPLANE_ENCRYPTION_KEYS is required in live mode'],
    [{ SIMPLANE_ENCRYPTION_KEYS: 'hunter2' }, 'SIMPLANE_ENCRYPTION_KEYS takes keys separated by commas'],
    [{ SIMPLANE_MOCK_DELAY: '1s' }, 'SIMPLANE_MOCK_DELAY is too long'],
    [{ SIMPLANE_SHUTDOWN_TIMEOUT: '30d' }, 'SIMPLANE_SHUTDOWN_TIMEOUT takes a duration'],
    [{ DATABASE_URL: 'mysql://root:hunter2@db' }, 'DATABASE_URL takes a `postgresql://` URL'],
  ])('%j are refused with an error that names the setting', (env, message) => {
    const read = () => readConfig(env as Record<string, string>);
    expect(read).toThrow(message);
    expect(read).not.toThrow('hunter2');
  });

  test('that are refused prevent the start with that error alone', async () => {
    const { code, stderr } = await runCommand(['serve'], { SIMPLANE_API_KEY: 'hunter2' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^SIMPLANE_API_KEY takes a key that begins with `sp_test_`.*\n$/);
    expect(stderr).not.toContain('hunter2');
  });

  test('an unknown SIMPLANE_ name gets a warning, and so does one that is no longer a setting but still applies', async () => {
    const server = await spawnServer({
      SIMPLANE_DATA_DIR: usedFolder,
      SIMPLANE_RATE_LIMT: '5',
      SIMPLANE_UNKNOWN_KEY_LIMIT: '1',
    });
    expect(server.output()).toContain('SIMPLANE_RATE_LIMT is not a setting');
    expect(server.output()).toContain('SIMPLANE_UNKNOWN_KEY_LIMIT is no longer a setting');
    const guesses = Array.from({ length: 20 }, (_, n) =>
      call({ url: server.url, key: `sp_test_${'x'.repeat(16)}${n}` }, 'GET', '/v1/me'),
    );
    expect((await Promise.all(guesses)).map(({ status }) => status)).toContain(429);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('a port in use is named in the error', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const server = await runCommand(['serve'], { SIMPLANE_DATA_DIR: usedFolder, PORT: port });
    expect(server.code).toBe(1);
    expect(server.stderr).toContain(port);
    expect(server.stderr).toContain('set PORT');
    other.close();
  });
});
