/**
 * Import rules: one per row of `.may-import.js`, plus those a list cannot express. Each rule states its reason.
 * `npm run imports` checks them, and fails if it read too few files; a test plants a violation of each.
 */
import { mayImport } from './.may-import.js';

const workspaces = Object.keys(mayImport);
const rows = workspaces.flatMap((workspace) =>
  Object.entries(mayImport[workspace]).map(([folder, { why, imports }]) => ({
    name: folder === '.' ? `${workspace}/src` : `${workspace}/src/${folder}`,
    files: filesOf(workspace, folder),
    why,
    packages: imports.filter((entry) => entry.startsWith('npm:')).map(packageFiles),
    ours: imports.filter((entry) => !entry.startsWith('npm:')).map((entry) => ourFiles(workspace, entry)),
  })),
);

/** Matches a folder's direct files, or one file: both the sources and the build that other workspaces import. */
function filesOf(workspace, path) {
  const top = `^${workspace}/(src|dist)/`;
  if (path === '*') return top;
  if (path === '.') return `${top}[^/]+$`;
  return path.endsWith('.ts') ? `${top}${path.slice(0, -'.ts'.length)}\\.(d\\.)?ts$` : `${top}${path}/[^/]+$`;
}

function ourFiles(workspace, entry) {
  const [path, other = workspace] = entry.split(':').reverse();
  return filesOf(other, path);
}

function packageFiles(entry) {
  const name = entry.slice('npm:'.length);
  return `node_modules/(@types/)?${name}/`;
}

const isTest = '\\.test\\.ts$';

export default {
  forbidden: [
    ...rows.flatMap(({ name, files, why, packages, ours }) => [
      {
        name: `may-import: ${name}`,
        comment: `${why} The import is not listed for ${name} in .may-import.js.`,
        severity: 'error',
        from: { path: files },
        // Other rules cover packages, which npm may install inside a workspace, and what the tests share.
        to: { path: `^(${workspaces.join('|')})/(?!node_modules/|test/support/)`, pathNot: [files, ...ours] },
      },
      {
        name: `may-use-packages: ${name}`,
        comment: `${why} The package is not listed for ${name} in .may-import.js.`,
        severity: 'error',
        from: { path: files, pathNot: isTest },
        to: { path: 'node_modules/', pathNot: packages },
      },
    ]),
    {
      name: 'every-folder-has-a-list',
      comment: 'A new folder must list in .may-import.js what it may import, and why.',
      severity: 'error',
      from: { path: '^[^/]+/src/', pathNot: rows.map(({ files }) => files) },
      to: {},
    },
    {
      name: 'no-cycles',
      comment: 'Files in a cycle cannot be read or tested one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'contract-stands-alone',
      comment: 'The contract is data that everything else derives from, so it may depend only on typebox.',
      severity: 'error',
      from: { path: '^contract/src' },
      to: { pathNot: ['^contract/src', 'node_modules/typebox'] },
    },
    {
      name: 'sdk-stands-alone',
      comment:
        'The SDK runs in browsers and at the edge, so it imports no package, no Node module and no other workspace.',
      severity: 'error',
      from: { path: '^sdk/src', pathNot: isTest },
      to: { pathNot: '^sdk/src' },
    },
    {
      name: 'mcp-is-mounted-in-one-place',
      comment: 'Agents use the same operations as other callers; only http/mcp knows about MCP.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: '^server/src/http/mcp/' },
      to: { path: '^(mcp|sdk)/' },
    },
    {
      name: 'only-http-knows-fastify',
      comment: 'Operations are plain functions; only http/ depends on the web framework.',
      severity: 'error',
      from: { path: '^server/src', pathNot: '^server/src/http/' },
      to: { path: 'node_modules/fastify/' },
    },
    {
      name: 'only-db-knows-pg',
      comment: 'Features write SQL in their sql/ and run it through db/.',
      severity: 'error',
      from: { path: '^server/src', pathNot: '^server/src/db/' },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 'sql-stays-in-its-folder',
      comment:
        'A feature exports operations, not SQL. Only its own folder and the operator’s commands may use its statements.',
      severity: 'error',
      from: { path: '^(server/src.*?)/(?:sql/)?[^/]+$', pathNot: '^server/src/operator/' },
      to: { path: '^server/src/.*/sql/', pathNot: '^$1/(sql/)?[^/]+$' },
    },
    {
      name: 'drivers-are-chosen-at-the-top',
      comment: 'All other code uses the port, so a sandbox and a live deployment differ in one line.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: ['^server/src/network/', '^server/src/operator/', isTest],
      },
      to: { path: '^server/src/network/[^/]+/' },
    },
    {
      name: 'only-tests-use-test-support',
      comment: 'What the tests share is not part of the product.',
      severity: 'error',
      from: { path: '^[^/]+/src/', pathNot: isTest },
      to: { path: '^[^/]+/test/' },
    },
    {
      name: 'no-undeclared-packages',
      comment: 'A workspace must declare every package it imports.',
      severity: 'error',
      from: { path: '^(contract|reference|sdk|mcp|cli|server|bench|faults)/src', pathNot: isTest },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'No other rule can check an import that does not resolve.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // Workspaces import each other's builds. Not followed, but kept in the graph so the rules see these imports.
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
