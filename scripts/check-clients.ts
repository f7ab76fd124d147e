/**
 * Lints contract/openapi.json with Spectral, generates clients with openapi-typescript, hey-api and orval, and compiles them and a
 * caller of each in strict mode. Not part of the tests: the tools want a newer Node or an older TypeScript than this repository.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installTemporarily } from './install-temporarily.ts';

const document = fileURLToPath(new URL('../../contract/openapi.json', import.meta.url));

/** Each reads a delivered event and names a request and a list, so that a client without them does not compile. */
const callers = {
  'use-openapi-typescript.ts': `
import type { components, paths, webhooks } from './openapi-typescript.ts';
type Schemas = components['schemas'];
export const order: Schemas['CreateEsimRequest'] = { product_id: 'prod_europe_5gb_30d' };
export type Page = paths['/v1/esims']['get']['responses'][200]['content']['application/json'];
export const iccids = (page: Page & Schemas['EsimList']): string[] => page.data.map(({ iccid }) => iccid);
type Delivered = NonNullable<webhooks['event']['post']['requestBody']>['content']['application/json'];
export function percentOf(event: Delivered): number | null {
  return event.type === 'bundle.usage_threshold' ? event.data.threshold_percent : null;
}`,
  'use-hey-api.ts': `
import { createEsim, listEsims, type CreateEsimRequest, type EsimList, type WebhookEvent } from './hey-api/index.ts';
export const order: CreateEsimRequest = { product_id: 'prod_europe_5gb_30d' };
export const run = async (): Promise<EsimList | undefined> => {
  await createEsim({ body: order, headers: { 'Idempotency-Key': 'order-1' } });
  return (await listEsims({ query: { limit: 3 } })).data;
};
export function percentOf(event: WebhookEvent): number | null {
  return event.type === 'bundle.usage_threshold' ? event.data.threshold_percent : null;
}`,
  'use-orval.ts': `
import { createEsim, listEsims } from './orval/client.ts';
import type { CreateEsimRequest, EsimList, WebhookEvent } from './orval/model/index.ts';
export const order: CreateEsimRequest = { product_id: 'prod_europe_5gb_30d' };
export const run = async (): Promise<EsimList | null> => {
  await createEsim(order);
  const answer = await listEsims({ limit: 3 });
  return answer.status === 200 ? answer.data : null;
};
export function percentOf(event: WebhookEvent): number | null {
  return event.type === 'bundle.usage_threshold' ? event.data.threshold_percent : null;
}`,
};

const orvalConfig = {
  client: {
    input: document,
    output: { target: 'orval/client.ts', schemas: 'orval/model', client: 'fetch', indexFiles: true },
  },
};

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
};

// orval calls Map.groupBy, which Node 20 lacks.
const groupBy = `Map.groupBy ??= (items, key) => {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
};`;

const { folder, remove } = await installTemporarily('@stoplight/spectral-cli', '6.16.3', [
  'openapi-typescript@7.13.0',
  '@hey-api/openapi-ts@0.99.0',
  'orval@8.30.0',
  'typescript@5.9.3',
]);
try {
  await writeAll({
    ...callers,
    'ruleset.json': JSON.stringify({ extends: ['spectral:oas'] }),
    'orval.config.mjs': `export default ${JSON.stringify(orvalConfig)};`,
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts', 'hey-api', 'orval'] }),
    'group-by.mjs': groupBy,
  });
  await run('@stoplight/spectral-cli/dist/index.js', [
    ...['lint', '--ruleset', 'ruleset.json', '--fail-severity', 'hint', document],
  ]);
  console.log('Spectral: no findings');
  await run('openapi-typescript/bin/cli.js', [document, '--output', 'openapi-typescript.ts']);
  await run('@hey-api/openapi-ts/bin/run.js', ['--input', document, '--output', 'hey-api']);
  await run('orval/dist/bin/orval.mjs', ['--config', 'orval.config.mjs']);
  await run('typescript/bin/tsc', ['--project', '.']);
  console.log('openapi-typescript, hey-api, orval: the clients and their callers compile in strict mode');
} finally {
  await remove();
}

async function writeAll(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

/** Runs a tool with Node; throws with what it printed if it fails. */
async function run(tool: string, args: string[]): Promise<void> {
  const preload = join(folder, 'group-by.mjs');
  const options = {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: `--import ${preload}` },
    maxBuffer: 16_000_000,
  };
  const command = [join(folder, 'node_modules', tool), ...args];
  await promisify(execFile)(process.execPath, command, options).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${tool} failed\n${error.stdout ?? ''}${error.stderr ?? ''}`, { cause: error });
    },
  );
}
