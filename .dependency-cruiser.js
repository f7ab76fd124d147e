/**
 * Which part may import which: a rule for each row of `.may-import.js`, and those that a list cannot say. Each carries its reason.
 * `npm run imports` checks them, and fails as well when it saw no file; a test plants a violation of each.
 */
import { mayImport } from './.may-import.js';

const workspaces = Object.keys(mayImport);
const rows = workspaces.flatMap((workspace) =>
  Object.entries(mayImport[workspace]).map(([place, { why, imports }]) => ({
    name: place === '.' ? `${workspace}/src` : `${workspace}/src/${place}`,
    files: filesOf(workspace, place),
    why,
    packages: imports.filter((entry) => entry.startsWith('npm:')).map(packageFiles),
    ours: imports.filter((entry) => !entry.startsWith('npm:')).map((entry) => ourFiles(workspace, entry)),
  })),
);

/** A folder's own files, or one file; as sources, and as the build that other workspaces see. */
function filesOf(workspace, place) {
  const top = `^${workspace}/(src|dist)/`;
  if (place === '*') return top;
  if (place === '.') return `${top}[^/]+$`;
  return place.endsWith('.ts')
    ? `${top}${place.slice(0, -'.ts'.length)}\\.(d\\.)?ts$`
    : `${top}${place}/[^/]+$`;
}

function ourFiles(workspace, entry) {
  const [place, other = workspace] = entry.split(':').reverse();
  return filesOf(other, place);
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
        comment: `${why} It is not in the list of ${name} in .may-import.js.`,
        severity: 'error',
        from: { path: files },
        // npm may put a package below a workspace; the rule after this one is for packages, wherever they lie.
        to: { path: `^(${workspaces.join('|')})/(?!node_modules/)`, pathNot: [files, ...ours] },
      },
      {
        name: `may-use-packages: ${name}`,
        comment: `${why} The package is not in the list of ${name} in .may-import.js.`,
        severity: 'error',
        from: { path: files, pathNot: isTest },
        to: { path: 'node_modules/', pathNot: packages },
      },
    ]),
    {
      name: 'every-folder-has-a-list',
      comment: 'A new folder says in .may-import.js what it may import, and why.',
      severity: 'error',
      from: { path: '^[^/]+/src/', pathNot: rows.map(({ files }) => files) },
      to: {},
    },
    {
      name: 'no-cycles',
      comment: 'A cycle has no bottom to start reading from.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'contract-stands-alone',
      comment:
        'The contract is data: everything derives from it, so it may depend on nothing of ours, and on typebox only.',
      severity: 'error',
      from: { path: '^contract/src' },
      to: { pathNot: ['^contract/src', 'node_modules/typebox'] },
    },
    {
      name: 'sdk-stands-alone',
      comment:
        'It runs in browsers and at the edge: no package, nothing of Node’s, nothing of ours at run time.',
      severity: 'error',
      from: { path: '^sdk/src', pathNot: isTest },
      to: { pathNot: '^sdk/src' },
    },
    {
      name: 'mcp-is-mounted-in-one-place',
      comment: 'Agents enter by the same operations as everybody else; only the mount knows of them.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: '^server/src/http/mcp/' },
      to: { path: '^(mcp|sdk)/' },
    },
    {
      name: 'only-http-knows-fastify',
      comment: 'Operations are plain functions; the framework is a detail of one folder.',
      severity: 'error',
      from: { path: '^server/src', pathNot: '^server/src/http/' },
      to: { path: 'node_modules/fastify/' },
    },
    {
      name: 'only-db-knows-pg',
      comment: 'Features write SQL in their sql.ts and run it through db/.',
      severity: 'error',
      from: { path: '^server/src', pathNot: '^server/src/db/' },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 'sql-stays-in-its-folder',
      comment:
        'A feature offers verbs; its statements are its own. The operator’s commands and the folder itself may use them.',
      severity: 'error',
      from: { path: '^(server/src.*)/[^/]+$', pathNot: '^server/src/operator/' },
      to: { path: '^server/src/.*[/-]sql\\.ts$', pathNot: '^$1/[^/]+$' },
    },
    {
      name: 'drivers-are-chosen-at-the-top',
      comment: 'Everything else sees the port, so a sandbox and a live deployment differ in one line.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: ['^server/src/network/', '^server/src/operator/', isTest],
      },
      to: { path: '^server/src/network/[^/]+/' },
    },
    {
      name: 'no-undeclared-packages',
      comment: 'What is imported is declared in the package that imports it.',
      severity: 'error',
      from: { path: '^(contract|reference|sdk|mcp|cli|server|bench|faults)/src', pathNot: isTest },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that leads nowhere hides what it would reach from every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // A workspace sees the builds of others: not followed, but not left out either, or no rule would see those imports.
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
