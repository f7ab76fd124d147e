/**
 * Import rules. Each states its reason; `npm run imports` checks them and fails if it read too few files, and a test plants a violation
 * of each. `floors` and `workspaces` are the architecture: docs/ARCHITECTURE.md tells what stands on each floor.
 */

/** The floors of `server/src`, top to bottom. Each imports only those below it. */
export const floors = [
  'main.ts',
  'commands',
  'serve.ts',
  'http',
  'background',
  'config',
  'views',
  // An order is an execution that makes an eSIM; bundles belong to eSIMs, and reports of the network change both.
  'orders/closing',
  'orders/erasures',
  'orders/operator',
  'orders/sandbox',
  'orders/observations',
  'orders/batches',
  'orders/bundles',
  'orders/install-links',
  'orders/esims',
  // What an eSIM may use follows from it and its bundles, whose changes write it.
  'orders/service',
  'orders/executions',
  // Who writes an event knows neither the feed nor its receivers.
  'notify/webhooks',
  'notify/feed',
  'notify/events',
  'accounts',
  'network',
  'platform',
];

/** What each workspace may import of the others. */
export const workspaces = {
  contract: [],
  reference: ['contract'],
  sdk: [],
  mcp: ['contract', 'sdk'],
  cli: ['contract', 'sdk', 'mcp'],
  dashboard: ['sdk'],
  server: ['contract', 'reference', 'mcp', 'sdk'],
  bench: ['server'],
  faults: ['contract', 'server'],
};

const isTest = '\\.test\\.ts$';
const filesOf = (floor) => `^server/src/${floor.replace('.', '\\.')}(/|$)`;

export default {
  forbidden: [
    ...floors.slice(1).map((floor, index) => ({
      name: `floor: ${floor}`,
      comment: 'A floor imports only lower floors, types included (`floors` in .dependency-cruiser.js).',
      severity: 'error',
      from: { path: filesOf(floor), pathNot: isTest },
      to: { path: floors.slice(0, index + 1).map(filesOf) },
    })),
    ...Object.entries(workspaces).map(([workspace, others]) => ({
      name: `workspace: ${workspace}`,
      comment: 'A workspace imports only those listed for it (`workspaces` in .dependency-cruiser.js).',
      severity: 'error',
      from: { path: `^${workspace}/src/` },
      to: {
        path: `^(${Object.keys(workspaces).join('|')})/(?!node_modules/)`,
        pathNot: [workspace, ...others].map((name) => `^${name}/`),
      },
    })),
    {
      name: 'every-file-has-a-floor',
      comment: 'A new folder or file of server/src belongs to one of the floors.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: floors.map(filesOf) },
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
      comment: 'Features write SQL in their sql/ and run it through platform/db.',
      severity: 'error',
      from: { path: '^server/src', pathNot: '^server/src/platform/db/|\\.test\\.ts$' },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 'screens-read-through-readings',
      comment:
        'parts/reading.tsx has a look for loading, failed and stale. A screen with a query of its own can forget one.',
      severity: 'error',
      from: { path: '^dashboard/src/screens/', pathNot: '/esim-install\\.tsx$' },
      to: { path: 'node_modules/@tanstack/' },
    },
    {
      name: 'network-has-no-database',
      comment: 'A driver depends only on its arguments, so that it can be tried against any SM-DP+.',
      severity: 'error',
      from: { path: '^server/src/network/' },
      to: { path: '^server/src/platform/db/' },
    },
    {
      name: 'drivers-are-chosen-at-the-top',
      comment: 'All other code uses the port, so a sandbox and a live deployment differ in one line.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: ['^server/src/network/', '^server/src/commands/', isTest] },
      to: { path: '^server/src/network/[^/]+/' },
    },
    {
      name: 'sql-stays-in-its-folder',
      comment:
        'A feature exports operations, not SQL. Only its own folder and the operator’s commands may use its statements.',
      severity: 'error',
      from: { path: '^(server/src.*?)/(?:sql/)?[^/]+$', pathNot: '^server/src/commands/' },
      to: { path: '^server/src/.*/sql(/|\\.ts$)', pathNot: '^$1/(sql/)?[^/]+$' },
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
