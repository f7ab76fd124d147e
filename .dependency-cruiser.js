/** Which part may import which. Each rule carries its reason; `npm run imports` also fails when it saw no file. */
export default {
  forbidden: [
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
      name: 'reference-renders-the-contract',
      comment: 'The page is a function of the contract: what it shows is what the contract says.',
      severity: 'error',
      from: { path: '^reference/src' },
      to: { path: '^(?!reference/src|contract/)', dependencyTypesNot: ['core'] },
    },
    {
      name: 'sdk-stands-alone',
      comment:
        'It runs in browsers and at the edge: no package, nothing of Node’s, nothing of ours at run time.',
      severity: 'error',
      from: { path: '^sdk/src', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^sdk/src' },
    },
    {
      name: 'clients-know-the-sdk-and-the-contract',
      comment: 'What a client of the API can do, others can do too: there is no door of our own.',
      severity: 'error',
      from: { path: '^(mcp|cli)/src' },
      to: { path: '^(server|bench)/' },
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
      name: 'sql-stays-in-its-feature',
      comment:
        'A feature offers verbs; its statements are its own. The operator’s commands and the feature itself may use them.',
      severity: 'error',
      from: { path: '^server/src/([^/]+)/', pathNot: '^server/src/operator/' },
      to: { path: '^server/src/[^/]+/sql\\.ts$', pathNot: '^server/src/$1/' },
    },
    {
      name: 'features-know-no-http',
      comment: 'The same operation serves HTTP today and other callers later.',
      severity: 'error',
      from: {
        path: '^server/src/(accounts|products|esims|bundles|executions|events|sandbox|idempotency|lists|network|db|worker)/',
      },
      to: { path: '^server/src/(http|operator)/' },
    },
    {
      name: 'db-knows-no-feature',
      comment: 'The database layer is below all features.',
      severity: 'error',
      from: { path: '^server/src/db/' },
      to: {
        path: '^server/src/(accounts|products|esims|bundles|executions|events|sandbox|idempotency|lists|network|worker)/',
      },
    },
    {
      name: 'network-knows-nobody',
      comment:
        'A driver is a function of its call: it has no database and no feature to look things up in. How a text is cut and a body signed is the same everywhere, and depends on nothing.',
      severity: 'error',
      from: { path: '^server/src/network/' },
      to: {
        path: '^server/src/',
        pathNot: ['^server/src/network/', '^server/src/(telemetry/clip|secrets/service-signature)\\.ts$'],
      },
    },
    {
      name: 'drivers-are-chosen-at-the-top',
      comment: 'Everything else sees the port, so a sandbox and a live deployment differ in one line.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: ['^server/src/network/', '^server/src/operator/', '\\.test\\.ts$'],
      },
      to: { path: '^server/src/network/[^/]+/' },
    },
    {
      name: 'events-know-no-feature',
      comment: 'Features tell events what happened, never the other way round.',
      severity: 'error',
      from: { path: '^server/src/events/' },
      to: { path: '^server/src/(accounts|products|esims|bundles|executions|sandbox)/' },
    },
    {
      name: 'checks-see-only-the-history',
      comment:
        'A guarantee is judged by what was seen from outside: a check that could ask would not be replayable.',
      severity: 'error',
      from: { path: '^faults/src/(checks|history)/' },
      to: { path: '^faults/src/', pathNot: '^faults/src/(checks|history)/' },
    },
    {
      name: 'faults-judge-from-outside',
      comment:
        'The checker starts the service and talks to it; of its insides it knows only how to start them.',
      severity: 'error',
      from: { path: '^faults/src' },
      to: {
        path: '^server/(src|dist)/',
        pathNot: '^server/(src|dist)/(serve|telemetry/log|config/read-config|db/embedded/start)\\.',
      },
    },
    {
      name: 'no-undeclared-packages',
      comment: 'What is imported is declared in the package that imports it.',
      severity: 'error',
      from: { path: '^(contract|reference|sdk|mcp|cli|server|faults)/src', pathNot: '\\.test\\.ts$' },
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
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
