import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';

type Row = { name: string; importer: string; target: string; imports: string[] };

const repository = new URL('../../../', import.meta.url);
const load = (name: string) => import(/* @vite-ignore */ new URL(name, repository).href);
const { mayImport } = (await load('.may-import.js')) as {
  mayImport: Record<string, Record<string, { why: string; imports: string[] }>>;
};
const ruleNames: string[] = (await load('.dependency-cruiser.js')).default.forbidden.map(
  ({ name }: { name: string }) => name,
);

const rows = Object.entries(mayImport).flatMap(([workspace, list]) =>
  Object.entries(list).map(([folder, { imports: entries }]): Row => {
    const name = folder === '.' ? `${workspace}/src` : `${workspace}/src/${folder}`;
    const isFile = folder.endsWith('.ts');
    return {
      name,
      importer: isFile ? name : `${name}/planted.ts`,
      target: isFile ? name : `${name}/target.ts`,
      imports: entries.map((entry) => pathOf(workspace, entry)),
    };
  }),
);
const packages = [...new Set(rows.flatMap(({ imports }) => imports).filter(isPackage)), 'npm:not-listed'];
/** Files listed by name; their folder may not be listed. */
const listedFiles = [
  ...new Set(rows.flatMap(({ imports }) => imports).filter((path) => path.endsWith('.ts'))),
].filter((path) => rows.every(({ target }) => target !== path));

/** Violations of rules outside the table: [rule, file, import, resolved path]. */
const planted: [rule: string, from: string, imports: string, to: string][] = [
  ['every-folder-has-a-list', 'server/src/new-folder/a.ts', '../clock.ts', 'server/src/clock.ts'],
  ['every-folder-has-a-list', 'server/src/stray.ts', './clock.ts', 'server/src/clock.ts'],
  ['contract-stands-alone', 'contract/src/a.ts', 'node:fs', 'fs'],
  ['sdk-stands-alone', 'sdk/src/a.ts', 'node:fs', 'fs'],
  ['mcp-is-mounted-in-one-place', 'server/src/http/a.ts', '@simplane/mcp', 'mcp/dist/index.d.ts'],
  ['only-http-knows-fastify', 'server/src/esims/a.ts', 'fastify', 'node_modules/fastify/index.js'],
  ['only-db-knows-pg', 'server/src/esims/b.ts', 'pg', 'node_modules/pg/index.js'],
  [
    'drivers-are-chosen-at-the-top',
    'server/src/esims/c.ts',
    '../network/mock/target.ts',
    'server/src/network/mock/target.ts',
  ],
  [
    'only-tests-use-test-support',
    'server/src/esims/f.ts',
    '../../test/support/target.ts',
    'server/test/support/target.ts',
  ],
  ['no-undeclared-packages', 'server/src/esims/d.ts', 'undeclared', 'node_modules/undeclared/index.js'],
  ['no-unresolvable', 'server/src/esims/e.ts', './nowhere.ts', './nowhere.ts'],
  ['no-cycles', 'server/src/ids/a.ts', './b.ts', 'server/src/ids/b.ts → server/src/ids/a.ts'],
  ...[
    ['server/src/webhooks/deliveries/a.ts', 'server/src/webhooks/endpoints/sql/target.ts'],
    ['server/src/webhooks/endpoints/a.ts', 'server/src/webhooks/sender/sql/target.ts'],
    ['server/src/webhooks/sender/a.ts', 'server/src/webhooks/deliveries/sql/target.ts'],
    ['server/src/telemetry/a.ts', 'server/src/accounts/sql/target.ts'],
    ['server/src/serve.ts', 'server/src/products/sql/target.ts'],
  ].map(([from = '', to = '']): [string, string, string, string] => [
    'sql-stays-in-its-folder',
    from,
    specifier(from, to),
    to,
  ]),
];

const refused = new Set<string>();

// dependency-cruiser compares every violation with every other: one tree with all 12,000 takes 28 s.
beforeAll(async () => {
  const trees = 4;
  for (let tree = 0; tree < trees; tree++) {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'import-rules-')));
    const importers = rows.filter((_, index) => index % trees === tree);
    await plant(root, importers, tree === 0 ? planted : []);
    for (const violation of await violationsIn(root)) refused.add(violation);
    await rm(root, { recursive: true });
  }
}, 600_000);

test('a folder may import another only if it lists it, even for types', () => {
  const targets = [...rows.map(({ target }) => target), ...listedFiles];
  const expected = rows.flatMap(({ name, importer, target: own, imports }) =>
    targets
      .filter((target) => target !== own && dirname(target) !== name && !isListed(target, imports))
      .map((target) => `may-import: ${name}: ${importer} → ${target}`),
  );
  expect(tableViolations('may-import')).toEqual(expected.sort());
});

test('a folder may use a package only if it lists it', () => {
  const expected = rows.flatMap(({ name, importer, imports }) =>
    packages
      .filter((entry) => !imports.includes(entry))
      .map((entry) => `may-use-packages: ${name}: ${importer} → node_modules/${entry.slice(4)}/index.js`),
  );
  expect(tableViolations('may-use-packages')).toEqual(expected.sort());
});

test.each(planted)('%s: %s may not import %s', (rule, from, _, to) => {
  expect(refused).toContain(`${rule}: ${from} → ${to}`);
});

test.each([
  ['esims', 'webhooks/endpoints'],
  ['webhooks/endpoints', 'http'],
  ['webhooks/deliveries', 'http'],
  ['webhooks/sender', 'http'],
  ['events', 'webhooks/endpoints'],
  ['events', 'webhooks/deliveries'],
  ['db', 'webhooks/sender'],
  ['telemetry', 'accounts'],
])('%s may not import %s', (from, to) => {
  expect(refused).toContain(
    `may-import: server/src/${from}: server/src/${from}/planted.ts → server/src/${to}/target.ts`,
  );
});

test('every rule has a planted violation', () => {
  const seen = ruleNames.filter((name) => [...refused].some((line) => line.startsWith(`${name}: `)));
  expect(seen).toEqual(ruleNames);
});

function tableViolations(kind: string): string[] {
  const importers = new Set(rows.map(({ importer }) => importer));
  return [...refused]
    .filter((line) => line.startsWith(`${kind}: `) && importers.has(line.split(' ').at(-3) ?? ''))
    .sort();
}

/** Writes every target, `importers` that import all of them, and `others`. */
async function plant(folder: string, importers: Row[], others: typeof planted): Promise<void> {
  const files = new Map<string, string[]>();
  const add = (path: string, ...imports: string[]) =>
    files.set(path, [...(files.get(path) ?? []), ...imports]);
  for (const { target } of rows) add(target);
  for (const { importer } of importers) {
    const targets = [...rows.map((row) => row.target), ...listedFiles].filter((path) => path !== importer);
    add(importer, ...targets.map((path) => specifier(importer, path)), ...packages.map((p) => p.slice(4)));
  }
  for (const path of listedFiles) add(path);
  add('server/src/ids/b.ts', './a.ts');
  for (const [rule, from, imports, to] of others) {
    add(from, imports);
    if (rule === 'sql-stays-in-its-folder' || rule === 'only-tests-use-test-support') add(to);
  }
  for (const [path, imports] of files) {
    await write(join(folder, path), imports.map((name) => `import type {} from '${name}';\n`).join(''));
  }

  const declared = packages.map((entry) => entry.slice(4));
  await write(
    join(folder, 'package.json'),
    JSON.stringify({ dependencies: Object.fromEntries(declared.map((name) => [name, '1.0.0'])) }),
  );
  for (const name of [...declared, 'undeclared']) {
    await write(
      join(folder, 'node_modules', name, 'package.json'),
      JSON.stringify({ name, version: '1.0.0' }),
    );
    await write(join(folder, 'node_modules', name, 'index.js'), '');
  }
  await write(join(folder, 'mcp/package.json'), JSON.stringify({ exports: './dist/index.d.ts' }));
  await write(join(folder, 'mcp/dist/index.d.ts'), '');
  await mkdir(join(folder, 'node_modules/@simplane'), { recursive: true });
  await symlink('../../mcp', join(folder, 'node_modules/@simplane/mcp'));
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Lines as `npm run imports` prints them, without the reasons. */
function violationsIn(folder: string): Promise<Set<string>> {
  const script = fileURLToPath(new URL('scripts/dist/check-imports.js', repository));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, folder], { maxBuffer: 64 << 20 }, (error, _, stderr) => {
      if (error?.code !== 1) reject(error ?? new Error('no violation was found'));
      else resolve(new Set(stderr.split('\n').filter((line) => / → /.test(line))));
    });
  });
}

function isPackage(entry: string): boolean {
  return entry.startsWith('npm:');
}

/** A table entry as a path from the repository root; packages stay unchanged. */
function pathOf(workspace: string, entry: string): string {
  if (isPackage(entry)) return entry;
  const [folder = '', other = workspace] = entry.split(':').reverse();
  return folder === '.' ? `${other}/src` : `${other}/src/${folder}`;
}

function isListed(target: string, imports: string[]): boolean {
  return imports.some(
    (path) =>
      path === target ||
      path === dirname(target) ||
      (path.endsWith('/*') && target.startsWith(path.slice(0, -1))),
  );
}

function specifier(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
