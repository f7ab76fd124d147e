import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { call } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';

type Env = Record<string, string>;

const encryptionKey = randomBytes(32).toString('base64');
let databases: Awaited<ReturnType<typeof cloneDatabase>>[];
let [first, eu]: Env[] = [];
const running: ServerProcess[] = [];

beforeAll(async () => {
  databases = await Promise.all([cloneDatabase(), cloneDatabase()]);
  [first, eu] = databases.map(({ url }, index) => ({
    DATABASE_URL: url,
    SIMPLANE_MODE: 'live',
    SIMPLANE_ROLE: 'api',
    SIMPLANE_ENCRYPTION_KEYS: encryptionKey,
    ...(index === 1 && { SIMPLANE_CELL: 'eu' }),
  }));
});
afterAll(async () => {
  await Promise.all(running.map((server) => server.end('SIGKILL')));
  await Promise.all(databases.map((database) => database.drop()));
});

async function create(env: Env, ...args: string[]): Promise<{ id: string; key: string }> {
  return JSON.parse((await runCommand([...args, '--json'], env)).stdout)[0];
}

const createKey = (env: Env, ...args: string[]) => create(env, 'keys', 'create', '--name', 'test', ...args);

/** An eSIM of a new account. */
async function insertEsim(env: Env): Promise<string> {
  await create(env, 'accounts', 'create', '--name', 'Travel app');
  const iccid = '8999905000000000017';
  const db = openDatabase({
    connectionString: env['DATABASE_URL'] as string,
    poolSize: 1,
    onError: () => {},
  });
  await db.pool.query(
    `insert into esims (account_id, id, iccid, execution_id, product_id, status, profile_state, metadata, smdp_address,
       matching_id, confirmation_code_required, created_at, provisioned_at)
     select id, $1, $2, $1, 'prod', 'provisioned', 'released', '{}', 'smdp.example', '', false, now(), now()
     from accounts
     order by id desc
     limit 1`,
    [randomUUID(), iccid],
  );
  await db.end();
  return iccid;
}

test('two servers that know each other answer as one, and say when one is gone, without telling a key', async () => {
  if (!first || !eu) throw new Error('no databases');
  const scopes = ['--scopes', 'operator,operator_write'];
  const [ownKey, { key: euKey }] = await Promise.all([createKey(first, ...scopes), createKey(eu, ...scopes)]);
  expect(euKey).toMatch(/^sp_live_eu_/);
  const { id } = await create(first, 'accounts', 'create', '--name', 'Core');
  const { key } = await createKey(first, '--account', id, '--scopes', 'network');
  const iccid = await insertEsim(eu);

  const other = await spawnServer(eu);
  running.push(other);
  // The entry of the own cell is left out, so nobody asks its address.
  const SIMPLANE_CELLS = `http://:${ownKey.key}@127.0.0.1:1,${other.url.replace('//', `//:${euKey}@`)}`;
  const server = await spawnServer({ ...first, SIMPLANE_CELLS });
  running.push(server);
  const overview = async () =>
    (await call({ url: server.url, key: ownKey.key }, 'GET', '/v1/operator/overview')).json.cells;
  const report = async () => {
    const at = Math.floor(Date.now() / 1_000);
    const body = { records: [{ record_id: randomUUID(), iccid, bytes: 1, at }] };
    return (await call({ url: server.url, key }, 'POST', '/v1/usage_records', { body })).json;
  };

  expect(await overview()).toEqual([
    { cell: null, answered: true },
    { cell: 'eu', answered: true },
  ]);
  expect(await report()).toMatchObject({ accepted: 1, rejected: 0 });
  await other.end('SIGKILL');
  expect(await overview()).toEqual([
    { cell: null, answered: true },
    { cell: 'eu', answered: false, cause: 'unreachable' },
  ]);
  expect(await report()).toMatchObject({ rejections: [{ reason: 'esim_not_ready' }] });
  expect(server.output()).toContain('the cell \\"eu\\" did not answer');
  const doctor = await runCommand(['doctor'], { ...first, SIMPLANE_CELLS });
  const told = server.output() + doctor.stdout + doctor.stderr + (await server.metrics());
  for (const secret of [euKey, ownKey.key]) expect(told).not.toContain(secret);
});

test('a server does not start with an address that cannot be right, and does not repeat its key', async () => {
  if (!first || !eu) throw new Error('no databases');
  const { key } = await createKey(eu, '--scopes', 'operator');
  const started = spawnServer({ ...first, SIMPLANE_CELLS: `http://:${key}@eu.example` });
  await expect(started).rejects.toThrow(
    'entry 1: http is only for loopback and private addresses; use https',
  );
  await expect(started).rejects.toThrow(/^(?!.*sp_live_).*$/s);
});
