import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

const use = `
  const simplane = createSimplane({ apiKey: process.env['SIMPLANE_API_KEY'] ?? '', baseUrl: process.env['SIMPLANE_BASE_URL'] });
  async function main(): Promise<void> {
    const { mode } = await simplane.me();
    const header = await webhooks.sign('{"type":"esim.provisioned","data":{"iccid":"89"}}', 'whsec_x');
    const event = await webhooks.verify('{"type":"esim.provisioned","data":{"iccid":"89"}}', header, 'whsec_x');
    if (event.type === 'esim.provisioned') console.log(mode, event.data.iccid);
    // @ts-expect-error: a field that this type of event does not have
    if (event.type === 'esim.provisioned') event.data.threshold_percent;
    // @ts-expect-error: a misspelled field
    if (mode === 'live') await simplane.esims.create({ product: 'x' });
  }
  void main();`;

const uses = {
  'use.mts': `import { createSimplane, webhooks } from '@simplane/sdk';\n${use}`,
  'use.cts': `import simplaneSdk = require('@simplane/sdk');\nconst { createSimplane, webhooks } = simplaneSdk;\n${use}`,
};

let project: string;
let examples: string[];
/** The programs of these tests, compiled. */
let out: string;
let service: TestService;

/** Installs the package as npm would publish it, outside the repository. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'simplane-sdk-'));
  const packed = await run('npm', ['pack', '--json', '--pack-destination', project, '--workspace', 'sdk'], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  await writeFile(join(project, 'package.json'), '{ "name": "user-project", "private": true }');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: project });
  examples = await readExamples();
  out = await compile({
    ...uses,
    ...Object.fromEntries(examples.map((code, index) => [`${index}.mts`, code])),
    // This page's examples run until they are stopped, so they are only compiled, as one program.
    'events-page.mts': (await readExamples('../../docs/events.md')).join(''),
  });
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
});

afterAll(async () => {
  await service?.stop();
  await rm(project, { recursive: true, force: true });
});

async function readExamples(page = '../README.md'): Promise<string[]> {
  const text = await readFile(new URL(page, import.meta.url), 'utf8');
  return [...text.matchAll(/^```ts\n(.+?)^```/gms)].map(([, code = '']) => code);
}

/** Compiles with the settings of a typical user project; fails on any type error. */
async function compile(files: Record<string, string>): Promise<string> {
  const folder = join(project, 'compiled');
  const compilerOptions = {
    strict: true,
    module: 'NodeNext',
    target: 'ES2022',
    lib: ['ES2022', 'DOM'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    outDir: 'out',
    rootDir: '.',
  };
  await mkdir(folder);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  for (const [file, code] of Object.entries(files)) await writeFile(join(folder, file), code);
  await run(process.execPath, [tsc, '--project', folder]);
  return join(folder, 'out');
}

function environment() {
  return { ...process.env, SIMPLANE_API_KEY: service.key, SIMPLANE_BASE_URL: service.url };
}

test('the package has its license and sources, source maps that resolve, and no build files', async () => {
  const folder = join(project, 'node_modules/@simplane/sdk');
  const files = await readdir(folder, { recursive: true });
  const license = await readFile(join(folder, 'LICENSE'), 'utf8');
  expect(license).toBe(await readFile(join(root, 'LICENSE'), 'utf8'));
  expect(files.filter((file) => /tsbuildinfo|tsconfig|test/.test(file))).toEqual([]);
  const maps = files.filter((file) => file.endsWith('.map'));
  expect(maps.length).toBe(files.filter((file) => file.endsWith('.js')).length);
  for (const map of maps) {
    const { sources } = JSON.parse(await readFile(join(folder, map), 'utf8')) as { sources: string[] };
    const resolved = sources.map((source) => relative(folder, resolve(folder, dirname(map), source)));
    expect(files, map).toEqual(expect.arrayContaining(resolved));
  }
});

test('the package has no dependencies', async () => {
  const installed = await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8');
  expect(Object.keys(JSON.parse(installed).packages)).toEqual(['node_modules/@simplane/sdk']);
});

describe('in both module systems', () => {
  for (const [system, file] of [
    ['ES modules', 'use.mjs'],
    ['CommonJS', 'use.cjs'],
  ] as const) {
    test(`(${system}) it type-checks and runs`, async () => {
      const { stdout } = await run(process.execPath, [join(out, file)], { env: environment() });
      expect(stdout).toBe('sandbox 89\n');
    });
  }
});

test('an error of the ES module is an instance of the CommonJS classes, and the other way round', async () => {
  const program = `
    import { createRequire } from 'node:module';
    import * as esm from '@simplane/sdk';
    const cjs = createRequire(import.meta.url)('@simplane/sdk');
    const settings = { apiKey: 'sp_test_nobody', baseUrl: process.env.SIMPLANE_BASE_URL };
    for (const [one, other] of [[esm, cjs], [cjs, esm]]) {
      class Mine extends other.ApiError {}
      const error = await one.createSimplane(settings).me().catch((error) => error);
      const classes = ['SimplaneError', 'ApiError', 'AuthenticationError', 'ServerError', 'TimeoutError'];
      console.log(one.ApiError === other.ApiError, classes.filter((name) => error instanceof other[name]).join(),
        error instanceof Mine, new Mine({ status: 400, headers: new Headers(), body: null }) instanceof one.ApiError);
    }
    console.log([null, undefined, 7, {}, new Error('x'), Object.create(null)].some((value) => value instanceof esm.SimplaneError));`;
  await writeFile(join(project, 'both.mjs'), program);
  const { stdout } = await run(process.execPath, [join(project, 'both.mjs')], { env: environment() });
  const line = 'false SimplaneError,ApiError,AuthenticationError false true';
  expect(stdout.trim().split('\n')).toEqual([line, line, 'false']);
});

test('the README examples type-check, run and print the expected output', async () => {
  const outputs = await Promise.all(
    examples.map((_, index) => run(process.execPath, [join(out, `${index}.mjs`)], { env: environment() })),
  );
  expect(outputs.map(({ stdout }) => stdout.trim())).toEqual([
    expect.stringMatching(/^89\d+ is provisioned\na link of \d+ characters$/),
    'one order',
    expect.stringMatching(/^3 of the catalog, and more\n(prod_\w+ works in Japan\n)+true$/),
    expect.stringMatching(/^(esim\.\w+; continue from a cursor of \d+ characters\n?)+$/),
    'an eSIM to bill',
    expect.stringMatching(/^No product has the id "prod_atlantis"/),
    'GET /v1/me, attempt 1: 200',
    '8999901000000000018 is ready',
  ]);
});
