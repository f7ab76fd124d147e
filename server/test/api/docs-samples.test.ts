import { execFile, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  exampleCursor,
  exampleGroupId,
  idPrefixes,
  isOperators,
  type OperationId,
  operations,
  withCheckDigit,
} from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhooks } from '../../../sdk/src/index.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call, provision } from '../support/client.ts';
import { insertFailed, insertUnknown, insertWaiting } from '../support/insert-executions.ts';
import { nodeRunner, pythonRunner, type SampleRunner } from '../support/run-samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

// Not every machine that runs the tests has them.
const isInstalled = (program: string) =>
  spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;
const hasPython = isInstalled('python3');
if (!hasPython) console.warn('No python3 found, so the Python samples of /docs are not run.');

let service: TestService;
let operatorKey: string;
let page: string;
/** In the repository, so that the samples find the SDK. */
let folder: string;
let nodeSamples: SampleRunner;
let pythonSamples: SampleRunner | null;

beforeAll(async () => {
  service = await startService({ requestLogLevel: 'writes', core: 'state' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startCore({ setService: async () => ({ kind: 'done', result: {} }) });
  service.startSequencer();
  operatorKey = await service.createKey({ scopes: ['operator', 'operator_write'] });
  page = (await call(service, 'GET', '/docs', { key: null })).text;
  await mkdir(join(root, 'node_modules', '.cache'), { recursive: true });
  folder = await mkdtemp(join(root, 'node_modules', '.cache', 'simplane-docs-'));
  // Makes curl fail on an error status, as the other languages do.
  await writeFile(join(folder, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
  nodeSamples = nodeRunner(folder);
  pythonSamples = hasPython ? pythonRunner(folder) : null;
});
afterAll(async () => {
  nodeSamples.stop();
  pythonSamples?.stop();
  await rm(folder, { recursive: true, force: true });
  await service.stop();
});

describe.each(Object.keys(operations) as OperationId[])('%s', (id) => {
  test('its samples work against a sandbox, with the ids that the page says to put in', async () => {
    const section = sectionOf(`op-${id}`);
    const ids = await idsFor(id);
    const replaced = [...section.matchAll(/<p class="hint">Replace <code>(.*?)<\/code>/g)];
    const paste = (code: string) =>
      replaced.reduce((text, [, value = '']) => text.replaceAll(value, idLike(value, ids)), code);
    const samples = samplesIn(section);
    const env = {
      SIMPLANE_API_KEY: isOperators(operations[id]) ? operatorKey : service.key,
      SIMPLANE_OPERATOR_KEY: operatorKey,
    };
    expect(Object.keys(samples)).toEqual(['curl', 'typescript', 'python']);
    // All three send the same request with the same idempotency key, so the second and third are retries of the first.
    const answer = JSON.parse(await runShell(paste(samples['curl'] ?? ''), env));
    expect(answer).toHaveProperty('object');
    await nodeSamples.run(paste(samples['typescript'] ?? ''), env);
    const printed = await pythonSamples?.run(paste(samples['python'] ?? ''), env);
    if (hasPython) expect(printed).toContain(`'object': '${answer.object}'`);
  });
});

test.each(['authentication', 'idempotency', 'pagination', 'versions', 'operator'])(
  'the commands in the section %s work',
  async (id) => {
    const commands = [...sectionOf(id).matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)]
      .map(([, code = '']) => textOf(code))
      .filter((code) => code.includes('curl'));
    expect(commands).not.toEqual([]);
    for (const command of commands) expect(await runShell(command)).toContain('"object":');
  },
);

test('the TypeScript samples compile in strict mode', async () => {
  for (const id of [...Object.keys(operations).map((one) => `op-${one}`), 'signatures']) {
    await writeFile(join(folder, `${id}.ts`), samplesIn(sectionOf(id))['typescript'] ?? '');
  }
  const compilerOptions = {
    ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true, target: 'es2022' },
    ...{ module: 'nodenext', moduleDetection: 'force', types: ['node'] },
    typeRoots: [join(root, 'node_modules', '@types')],
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', folder]);
});

describe('the section on signatures', () => {
  const secret = 'whsec_c2VjcmV0';
  const body = JSON.stringify({ id: 'evt_1', note: 'Zürich' });

  const shellTest = isInstalled('openssl') ? test : null;
  shellTest?.('the shell sample prints the signature of the header on the page', async () => {
    const section = sectionOf('signatures');
    const [, signature] = textOf(section).match(/t=\d+,v1=([0-9a-f]{64})/) ?? [];
    expect(await runShell(samplesIn(section)['curl'] ?? '')).toMatch(new RegExp(`^${signature}\\b`));
  });

  test.each(['typescript', ...(hasPython ? ['python'] : [])])(
    'the %s sample accepts only authentic deliveries',
    async (language) => {
      const code = samplesIn(sectionOf('signatures'))[language] ?? '';
      const receive = (header: string, env: Record<string, string>) =>
        language === 'python'
          ? runPython(`${code}\n\nread_event(os.environ["BODY"].encode(), ${JSON.stringify(header)})`, {
              BODY: body,
              ...env,
            })
          : runTypeScript(
              'signatures',
              `${withoutTypes(code)}\nawait readEvent(process.env.BODY, ${JSON.stringify(header)});`,
              { BODY: body, ...env },
            );
      const valid = await webhooks.sign(body, secret);
      const old = await webhooks.sign(body, secret, { timestamp: Math.floor(Date.now() / 1000) - 400 });
      await receive(valid, { WEBHOOK_SECRET: secret });
      await expect(
        receive(await webhooks.sign(body, 'whsec_other'), { WEBHOOK_SECRET: secret }),
      ).rejects.toThrow();
      await expect(receive(old, { WEBHOOK_SECRET: secret })).rejects.toThrow();
      await expect(receive('', { WEBHOOK_SECRET: secret })).rejects.toThrow();
      // Without a secret nothing is authentic, not even what is signed with an empty one.
      const now = Math.floor(Date.now() / 1000);
      const empty = `t=${now},v1=${createHmac('sha256', '').update(`${now}.${body}`).digest('hex')}`;
      await expect(receive(empty, { WEBHOOK_SECRET: '' })).rejects.toThrow(/WEBHOOK_SECRET/);
    },
  );
});

type Ids = { iccid: string; [prefix: string]: string };

/** One of everything, in a state in which the operation can act on it. */
let shared: Promise<Ids> | undefined;
let sharedByOperator: Promise<Ids> | undefined;

/** Operations that read share their ids: creating one of everything takes half of a test. */
function idsFor(id: OperationId): Promise<Ids> {
  const isOwn = ['getRequest', 'getEsimErasure', 'getAccountErasure'].includes(id);
  if (operations[id].method !== 'GET' || isOwn) return existingIds(id);
  if (isOperators(operations[id])) {
    sharedByOperator ??= existingIds(id);
    return sharedByOperator;
  }
  shared ??= existingIds(id);
  return shared;
}

/** Ends the eSIM and the account, and erases them if the operation shows an erasure. */
async function makeErasable(operationId: string, iccid: string, account: string): Promise<void> {
  const ofAccount = `/v1/operator/accounts/${account}`;
  await call(service, 'DELETE', `${ofAccount}?terminate_esims=true`, { key: operatorKey });
  await service.db.pool.query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
  if (!operationId.endsWith('Erasure')) return;
  await call(service, 'POST', `${ofAccount}/erase`, { key: operatorKey });
  await call(service, 'POST', `/v1/esims/${iccid}/erase`);
}

async function existingIds(operationId: string): Promise<Ids> {
  const settled = async (execution: string) =>
    until(
      async () => (await call(service, 'GET', `/v1/executions/${execution}`)).json,
      ({ status }) => status === 'succeeded',
    );
  const { id: execution, iccid } = await settled((await provision(service)).json.id);
  if (operationId === 'resumeEsim') {
    await settled((await call(service, 'POST', `/v1/esims/${iccid}/suspend`)).json.id);
  }
  const waiting = ['cancelExecution', 'retryExecution'].includes(operationId)
    ? await insertWaiting(service)
    : null;
  if (operationId === 'retryFailureGroup') await insertFailed(service, 'declined', exampleGroupId);
  const unknown = operationId === 'resolveExecution' ? await insertUnknown(service) : null;
  const isOfOperator = isOperators(operations[operationId as OperationId]);
  // An account and the deployment have endpoints and consumers alike.
  const [by, paths] = isOfOperator ? [operatorKey, '/v1/operator'] : [service.key, '/v1'];
  const endpoint = await call(service, 'POST', `${paths}/webhook_endpoints`, {
    key: by,
    body: { url: 'http://127.0.0.1:9/', enabled_event_types: ['a.b'] },
  });
  const event = await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
  const deliveries = await until(
    () => call(service, 'GET', `${paths}/webhook_endpoints/${endpoint.json.id}/deliveries`, { key: by }),
    ({ json }) => json.data.length > 0,
  );
  const recovery = await call(service, 'POST', `${paths}/webhook_endpoints/${endpoint.json.id}/recover`, {
    key: by,
    body: { since: 0 },
  });
  const request = recovery.headers.get('request-id') as string;
  if (operationId === 'getRequest') {
    await until(
      () => call(service, 'GET', `/v1/requests/${request}`),
      ({ status }) => status === 200,
    );
  }
  const bundles = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
  const batch = await newBatch(operationId);
  const link = await call(service, 'POST', `/v1/esims/${iccid}/install_links`);
  const account = await call(service, 'POST', '/v1/operator/accounts', {
    key: operatorKey,
    body: { name: 'Sample' },
  });
  if (operationId.endsWith('Erasure') || operationId.startsWith('erase')) {
    await makeErasable(operationId, iccid, account.json.id);
  }
  const keysPath = isOfOperator ? `/v1/operator/accounts/${account.json.id}/api_keys` : '/v1/api_keys';
  const key = await call(service, 'POST', keysPath, {
    key: by,
    body: { scopes: ['read', 'write'] },
  });
  await call(service, 'POST', '/dashboard/api/session', {
    ...{ key: null, headers: { Origin: service.url }, body: { api_key: by } },
  });
  const sessions = await call(service, 'GET', `${paths}/sessions`, { key: by });
  await call(service, 'PUT', `${paths}/event_consumers/billing`, { key: by, body: { after: 'start' } });
  const feed = await call(service, 'GET', `${paths}/events/feed?after=start&limit=1000`, { key: by });
  return {
    // A profile that the SM-DP+ reserved and nobody has.
    iccid: unknown === null ? iccid : withCheckDigit(`${iccid.slice(0, -4)}999`),
    [exampleCursor]: feed.json.cursor,
    [idPrefixes.execution]: unknown ?? waiting ?? execution,
    fg: exampleGroupId,
    [idPrefixes.webhookEndpoint]: endpoint.json.id,
    [idPrefixes.event]: event.json.id,
    [idPrefixes.delivery]: deliveries.json.data[0].id,
    [idPrefixes.recovery]: recovery.json.id,
    [idPrefixes.apiKey]: key.json.id,
    [idPrefixes.account]: account.json.id,
    [idPrefixes.request]: request,
    [idPrefixes.session]: sessions.json.data[0].id,
    [idPrefixes.bundle]: bundles.json.data[0].id,
    [idPrefixes.batch]: batch,
    [idPrefixes.installLink]: link.json.id,
  };
}

async function newBatch(operationId: string): Promise<string> {
  // No chore does it here, and an account may have ten unfinished ones.
  await service.db.pool.query('update batches set finished_at = now()');
  const product = operationId === 'cancelBatch' ? 'prod_sandbox_held' : 'prod_europe_5gb_30d';
  const { json } = await call(service, 'POST', '/v1/batches', { body: { product_id: product, quantity: 1 } });
  return json.id;
}

function idLike(example: string, ids: Ids): string {
  const id = ids[/^\d/.test(example) ? 'iccid' : (example.split('_')[0] ?? '')];
  if (id === undefined) throw new Error(`The test has no id like ${example}: add one to existingIds().`);
  return id;
}

/** A section of the page, up to the next one. */
function sectionOf(id: string): string {
  return page.split(`<section class="entry" id="${id}">`)[1]?.split('</section>')[0] ?? '';
}

function samplesIn(section: string): Record<string, string> {
  const figures = section.matchAll(/<figure class="code" data-language="(\w+)">.*?<pre[^>]*>(.*?)<\/pre>/gs);
  return Object.fromEntries([...figures].map(([, language = '', code = '']) => [language, textOf(code)]));
}

function textOf(markup: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name] ?? '');
}

/** The samples' only types, so that Node 20 can run them. */
function withoutTypes(code: string): string {
  return code.replaceAll(/: string( \| null)?(?=[,)])/g, '');
}

function environment(more: Record<string, string> = {}) {
  const env = {
    ...process.env,
    SIMPLANE_API_KEY: service.key,
    SIMPLANE_OPERATOR_KEY: operatorKey,
    CURL_HOME: folder,
    ...more,
  };
  return { env, cwd: folder, timeout: 60_000 };
}

async function runShell(code: string, env?: Record<string, string>): Promise<string> {
  return (await run('bash', ['-c', code], environment(env))).stdout;
}

async function runPython(code: string, env?: Record<string, string>): Promise<string> {
  return (await run('python3', ['-c', code], environment({ PYTHONUTF8: '1', ...env }))).stdout;
}

async function runTypeScript(name: string, code: string, env?: Record<string, string>): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, code);
  return (await run(process.execPath, [file], environment(env))).stdout;
}
