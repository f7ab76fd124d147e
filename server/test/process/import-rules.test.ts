import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';

const repository = new URL('../../../', import.meta.url);
const rules = (await import(/* @vite-ignore */ new URL('.dependency-cruiser.js', repository).href)) as {
  floors: string[];
  workspaces: Record<string, string[]>;
  default: { forbidden: { name: string }[] };
};
const ruleNames = rules.default.forbidden.map(({ name }) => name);
const workspaces = Object.keys(rules.workspaces);

/** A file on each floor that imports all others, and one that they import. */
const floors = rules.floors.map((floor) => {
  const path = `server/src/${floor}`;
  const isFile = floor.endsWith('.ts');
  return {
    floor,
    importer: isFile ? path : `${path}/planted.ts`,
    target: isFile ? path : `${path}/target.ts`,
  };
});

/** Violations of the other rules: [rule, file, import, resolved path]. */
const planted: [rule: string, from: string, imports: string, to: string][] = [
  ...[
    ['server/src/new-folder/a.ts', 'server/src/platform/target.ts'],
    ['server/src/stray.ts', 'server/src/platform/target.ts'],
    ['server/src/orders/new-room/a.ts', 'server/src/platform/target.ts'],
  ].map(plant('every-file-has-a-floor')),
  ['contract-stands-alone', 'contract/src/a.ts', 'node:fs', 'fs'],
  ['sdk-stands-alone', 'sdk/src/a.ts', 'node:fs', 'fs'],
  ['mcp-is-mounted-in-one-place', 'server/src/http/a.ts', '@simplane/mcp', 'mcp/dist/index.d.ts'],
  ['only-http-knows-fastify', 'server/src/orders/esims/a.ts', 'fastify', 'node_modules/fastify/index.js'],
  ['only-db-knows-pg', 'server/src/orders/esims/b.ts', 'pg', 'node_modules/pg/index.js'],
  [
    'screens-read-through-readings',
    'dashboard/src/screens/a.tsx',
    '@tanstack/react-query',
    'node_modules/@tanstack/react-query/index.js',
  ],
  [
    'no-undeclared-packages',
    'server/src/orders/esims/d.ts',
    'undeclared',
    'node_modules/undeclared/index.js',
  ],
  ['no-unresolvable', 'server/src/orders/esims/e.ts', './nowhere.ts', './nowhere.ts'],
  [
    'no-cycles',
    'server/src/platform/ids/a.ts',
    './b.ts',
    'server/src/platform/ids/b.ts → server/src/platform/ids/a.ts',
  ],
  ...[['server/src/network/es2plus/a.ts', 'server/src/platform/db/target.ts']].map(
    plant('network-has-no-database'),
  ),
  ...[['server/src/orders/esims/c.ts', 'server/src/network/mock/target.ts']].map(
    plant('drivers-are-chosen-at-the-top'),
  ),
  ...[['server/src/orders/esims/f.ts', 'server/test/support/target.ts']].map(
    plant('only-tests-use-test-support'),
  ),
  ...[
    ['server/src/notify/webhooks/deliveries/a.ts', 'server/src/notify/webhooks/endpoints/sql/target.ts'],
    ['server/src/notify/webhooks/endpoints/a.ts', 'server/src/notify/webhooks/sender/sql/target.ts'],
    ['server/src/orders/bundles/a.ts', 'server/src/orders/esims/sql/target.ts'],
    ['server/src/serve.ts', 'server/src/accounts/products/sql/target.ts'],
    ['server/src/accounts/audit/a.ts', 'server/src/accounts/sessions/sql.ts'],
  ].map(plant('sql-stays-in-its-folder')),
  ...workspaces.flatMap((from) =>
    workspaces
      .filter((to) => to !== from && !rules.workspaces[from]?.includes(to))
      .map((to): [string, string, string, string] => [
        `workspace: ${from}`,
        `${from}/src/planted.ts`,
        `../../${to}/src/target.ts`,
        `${to}/src/target.ts`,
      ]),
  ),
];

let refused: Set<string>;

beforeAll(async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'import-rules-')));
  await writeTree(root);
  refused = await violationsIn(root);
  await rm(root, { recursive: true });
}, 600_000);

test('a floor imports every lower one and none above it, even for types', () => {
  const expected = floors.flatMap(({ floor, importer }, index) =>
    floors.slice(0, index).map(({ target }) => `floor: ${floor}: ${importer} → ${target}`),
  );
  expect([...refused].filter((line) => line.startsWith('floor: ')).sort()).toEqual(expected.sort());
});

test.each(planted)('%s: %s may not import %s', (rule, from, _, to) => {
  expect(refused).toContain(`${rule}: ${from} → ${to}`);
});

test('a workspace imports those that it lists', () => {
  for (const [from, others] of Object.entries(rules.workspaces)) {
    for (const to of others) {
      expect(refused).not.toContain(`workspace: ${from}: ${from}/src/planted.ts → ${to}/src/target.ts`);
    }
  }
});

test('every rule has a planted violation', () => {
  const seen = ruleNames.filter((name) => [...refused].some((line) => line.startsWith(`${name}: `)));
  expect(seen).toEqual(ruleNames);
});

function plant(rule: string) {
  return ([from = '', to = '']: string[]): [string, string, string, string] => [
    rule,
    from,
    specifier(from, to),
    to,
  ];
}

/** Writes a repository with all these violations. */
async function writeTree(root: string): Promise<void> {
  const files = new Map<string, string[]>();
  const add = (path: string, ...imports: string[]) =>
    files.set(path, [...(files.get(path) ?? []), ...imports]);
  for (const { importer, target } of floors) {
    add(target);
    const others = floors.filter((one) => one.target !== target && one.target !== importer);
    add(importer, ...others.map((one) => specifier(importer, one.target)));
  }
  for (const from of workspaces) {
    add(`${from}/src/target.ts`);
    add(`${from}/src/planted.ts`, ...workspaces.map((to) => `../../${to}/src/target.ts`));
  }
  add('server/src/platform/ids/b.ts', './a.ts');
  for (const [, from, imports, to] of planted) {
    add(from, imports);
    if (imports.startsWith('.') && imports !== './nowhere.ts' && !to.includes('→')) add(to);
  }
  for (const [path, imports] of files) {
    const lines = [...new Set(imports)].map((name) => `import type {} from '${name}';\n`);
    await write(join(root, path), lines.join(''));
  }

  const declared = ['fastify', 'pg', '@tanstack/react-query'];
  const dependencies = Object.fromEntries(declared.map((name) => [name, '1.0.0']));
  await write(join(root, 'package.json'), JSON.stringify({ dependencies }));
  for (const name of [...declared, 'undeclared']) {
    await write(join(root, 'node_modules', name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    await write(join(root, 'node_modules', name, 'index.js'), '');
  }
  await write(join(root, 'mcp/package.json'), JSON.stringify({ exports: './dist/index.d.ts' }));
  await write(join(root, 'mcp/dist/index.d.ts'), '');
  await mkdir(join(root, 'node_modules/@simplane'), { recursive: true });
  await symlink('../../mcp', join(root, 'node_modules/@simplane/mcp'));
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Lines as `npm run imports` prints them, without the reasons. */
function violationsIn(root: string): Promise<Set<string>> {
  const script = fileURLToPath(new URL('scripts/dist/check-imports.js', repository));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, root], { maxBuffer: 64 << 20 }, (error, _, stderr) => {
      if (error?.code !== 1) reject(error ?? new Error('no violation was found'));
      else resolve(new Set(stderr.split('\n').filter((line) => / → /.test(line))));
    });
  });
}

function specifier(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
