const list = ([text]) => text.split(/\s+/).filter(Boolean);

/**
 * What each folder may import, and why. `.dependency-cruiser.js` turns each row into rules that forbid all other imports,
 * including types. A row covers the files directly in its folder; subfolders have their own rows. `.` is the top of `src`,
 * `npm:x` a package, `workspace:*` another workspace, `workspace:path` a part of it. All but the contract and the sdk may
 * use Node's modules; tests may use any package.
 */
export const mayImport = {
  contract: {
    '.': {
      why: 'The API as data. Everything else derives from it, so it imports no other workspace.',
      imports: list`operator npm:typebox`,
    },
    operator: {
      why: 'The operator’s operations, in terms of the account’s resources.',
      imports: list`. npm:typebox`,
    },
  },
  reference: {
    '.': {
      why: 'The reference page is generated from the contract alone.',
      imports: list`contract:*`,
    },
  },
  sdk: {
    '.': {
      why: 'The SDK runs in browsers and at the edge, without dependencies.',
      imports: list``,
    },
  },
  mcp: {
    '.': {
      why: 'Agents use the public API; there is no private access.',
      imports: list`tools contract:* sdk:* npm:@modelcontextprotocol/server`,
    },
    tools: {
      why: 'A tool is a few sdk calls.',
      imports: list`. contract:* sdk:*`,
    },
  },
  cli: {
    '.': {
      why: 'The command line uses the public API only.',
      imports: list`commands print contract:* sdk:* npm:commander`,
    },
    commands: {
      why: 'A command reads its options, calls the sdk and prints. `simplane mcp` starts the MCP server.',
      imports: list`. completion listen print contract:* mcp:* sdk:* npm:commander`,
    },
    completion: {
      why: 'Completion is derived from the commands and the contract.',
      imports: list`contract:* npm:commander`,
    },
    listen: {
      why: 'It signs events and forwards them; the command reads and prints them.',
      imports: list`sdk:*`,
    },
    print: {
      why: 'Printing handles values and terminals, and knows no command.',
      imports: list`command-error.ts sdk:* npm:commander npm:picocolors npm:uqr`,
    },
  },
  dashboard: {
    '.': {
      why: 'The page uses the public API only, through the sdk.',
      imports: list`live parts screens screens/operator sdk:* npm:@tanstack/react-query npm:react npm:react-dom`,
    },
    live: {
      why: 'Events as they come, from the feed. After an event, the screen reads its data again.',
      imports: list`. sdk:* npm:@tanstack/react-query npm:react`,
    },
    parts: {
      why: 'What screens are made of.',
      imports: list`. sdk:* npm:@tanstack/react-query npm:react`,
    },
    screens: {
      why: 'A screen reads with the sdk and is made of parts.',
      imports: list`. live parts sdk:* npm:@tanstack/react-query npm:react`,
    },
    'screens/operator': {
      why: 'The operator’s screens.',
      imports: list`. parts sdk:* npm:@tanstack/react-query npm:react`,
    },
  },
  server: {
    // Each top-level file has its own row, so a new one needs a reason.
    'main.ts': {
      why: 'The binary parses the command line and calls the operator’s commands.',
      imports: list`config operator npm:commander`,
    },
    'serve.ts': {
      why: 'It assembles a server process, so it imports most folders. The operator’s command passes in the network.',
      imports: list`accounts audit background clock.ts config dashboard db deployment http ids network observations
                   processes products request-log secrets service.ts telemetry npm:pino`,
    },
    'service.ts': {
      why: 'Types of the long-lived parts that a process shares.',
      imports: list`accounts/key-directory.ts clock.ts db ids request-log secrets/keyring.ts telemetry/metrics.ts
                   webhooks/guard/policy.ts webhooks/sender/probes.ts npm:pino`,
    },
    'context.ts': {
      why: 'Types of what an operation receives; everything here is below the features.',
      imports: list`app-error.ts clock.ts db idempotency ids secrets/keyring.ts webhooks/guard/policy.ts
                   webhooks/sender/probes.ts contract:*`,
    },
    'app-error.ts': {
      why: 'Every folder may throw an AppError, so it depends on almost nothing.',
      imports: list`telemetry/clip.ts contract:*`,
    },
    'clock.ts': {
      why: 'Every folder may use the clock, so it depends on nothing.',
      imports: list``,
    },

    // Below the features.
    addresses: {
      why: 'Arithmetic on IP addresses.',
      imports: list``,
    },
    ids: {
      why: 'How ids are generated and formatted.',
      imports: list`clock.ts contract:*`,
    },
    lists: {
      why: 'Pages and cursors for any kind of row.',
      imports: list`app-error.ts ids/uuid-range.ts contract:*`,
    },
    metadata: {
      why: 'The same rule for every resource with metadata.',
      imports: list`app-error.ts contract:*`,
    },
    worker: {
      why: 'The generic loop that claims work and stores its outcome.',
      imports: list``,
    },
    db: {
      why: 'The database layer is below all features.',
      imports: list`clock.ts db/embedded ids npm:pg`,
    },
    'db/embedded': {
      why: 'The launcher starts PostgreSQL and does not depend on what is stored in it.',
      imports: list`npm:pg`,
    },
    telemetry: {
      why: 'Features report to telemetry; it imports no feature.',
      imports: list`db npm:pino npm:prom-client`,
    },
    secrets: {
      why: 'Encryption is the same for every secret; the caller names the secret.',
      imports: list`app-error.ts db ids secrets/sql`,
    },
    'secrets/sql': {
      why: 'Statements know the database. Those of `reseal` are built from the list of sealed columns.',
      imports: list`db secrets/sealed-columns.ts`,
    },
    deployment: {
      why: 'The mode (sandbox or live) that a database was created for.',
      imports: list`config/config-error.ts db deployment/sql`,
    },
    'deployment/sql': {
      why: 'Statements know the database.',
      imports: list`db`,
    },
    config: {
      why: 'Settings are read before anything runs, so it imports only parsers and value types.',
      imports: list`accounts/api-key-text.ts addresses db/connection-url.ts network secrets/encryption-keys.ts
                   webhooks/guard/policy.ts contract:*`,
    },
    idempotency: {
      why: 'Keys and stored responses work the same for every operation.',
      imports: list`app-error.ts clock.ts db idempotency/sql secrets worker`,
    },
    'idempotency/sql': {
      why: 'Statements know the database.',
      imports: list`db idempotency/claim.ts idempotency/lock-key.ts idempotency/outcome.ts`,
    },
    network: {
      why: 'The port: what we request from a network, in the types of the contract. It imports no feature.',
      imports: list`contract:*`,
    },
    'network/mock': {
      why: 'A driver depends only on its arguments.',
      imports: list`network`,
    },
    'network/es2plus': {
      why: 'A driver depends only on its arguments; it has no database.',
      imports: list`network telemetry/clip.ts contract:* npm:undici`,
    },
    'network/core': {
      why: 'A driver depends only on its arguments. Its commands are signed like webhooks.',
      imports: list`network secrets/service-signature.ts telemetry/clip.ts npm:undici`,
    },

    // Features, lowest first.
    audit: {
      why: 'Features record who changed what, in their own transactions; the log imports no feature.',
      imports: list`app-error.ts audit/sql clock.ts context.ts db ids lists telemetry/redact.ts worker contract:*`,
    },
    'audit/sql': {
      why: 'Statements know the database.',
      imports: list`db lists contract:*`,
    },
    processes: {
      why: 'Which processes run, and what only they know. It imports no feature.',
      imports: list`clock.ts context.ts db ids lists network processes/sql telemetry worker contract:*`,
    },
    'processes/sql': {
      why: 'Statements know the database.',
      imports: list`db lists processes/report.ts`,
    },
    'request-log': {
      why: 'The log of requests, written in batches. It is given lines and imports no feature.',
      imports: list`app-error.ts clock.ts context.ts db ids lists request-log/sql telemetry/clip.ts contract:*`,
    },
    'request-log/sql': {
      why: 'Statements know the database.',
      imports: list`db ids lists request-log contract:*`,
    },
    events: {
      why: 'Features publish events; events import no feature. The same SQL statement queues the deliveries.',
      imports: list`app-error.ts clock.ts context.ts db events/sql idempotency ids lists telemetry/clip.ts contract:*`,
    },
    'events/sql': {
      why: 'Statements know the database.',
      imports: list`db events/has-pending-delivery.ts events/ids-in-body.ts lists`,
    },
    feed: {
      why: 'It reads the event log in its final order. Whoever writes events does not know it.',
      imports: list`app-error.ts clock.ts db feed/sql ids/uuid-range.ts worker`,
    },
    'feed/sql': {
      why: 'Statements know the database.',
      imports: list`db ids/uuid-range.ts`,
    },
    'feed/consumers': {
      why: 'A consumer is a stored place in the feed.',
      imports: list`app-error.ts clock.ts context.ts feed feed/consumers/sql idempotency ids/uuid-range.ts lists
                   telemetry/clip.ts contract:*`,
    },
    'feed/consumers/sql': {
      why: 'Statements know the database.',
      imports: list`db feed/cursor.ts`,
    },
    accounts: {
      why: 'Callers and their keys. An account needs no product or eSIM.',
      imports: list`accounts/sql addresses app-error.ts audit clock.ts context.ts db idempotency ids lists secrets/secret-file.ts
                   telemetry/clip.ts contract:*`,
    },
    'accounts/sql': {
      why: 'Statements know the database.',
      imports: list`db ids/uuid-range.ts lists contract:*`,
    },
    products: {
      why: 'The catalog lists what is sold, not who bought it.',
      imports: list`app-error.ts audit clock.ts context.ts db idempotency ids lists processes products/sql telemetry/clip.ts
                   contract:* npm:ajv`,
    },
    'products/sql': {
      why: 'Statements know the database.',
      imports: list`db contract:*`,
    },
    executions: {
      why: 'An execution calls the runner passed to it, so it imports no feature.',
      imports: list`app-error.ts audit clock.ts context.ts db executions/sql idempotency ids lists network
                   secrets/keyring.ts telemetry worker contract:*`,
    },
    'executions/sql': {
      why: 'Statements: rows in, rows out.',
      imports: list`db executions/end-from.ts executions/held.ts executions/list-statement.ts executions/row-columns.ts
                   executions/waiting-for.ts idempotency lists
                   contract:*`,
    },
    esims: {
      why: 'An eSIM can exist without a bundle. It publishes events without knowing the receivers.',
      imports: list`app-error.ts audit clock.ts config/iccid-ranges.ts context.ts db esims/sql events executions
                   idempotency ids lists metadata network processes products secrets telemetry/clip.ts contract:*
                   npm:uqr`,
    },
    'esims/sql': {
      why: 'Statements, some composed of pieces that other features export.',
      imports: list`db esims/state.ts events executions lists contract:*`,
    },
    bundles: {
      why: 'A bundle belongs to an eSIM, so bundles import eSIMs and never the reverse.',
      imports: list`app-error.ts bundles/sql clock.ts context.ts db esims events executions idempotency ids lists
                   products contract:*`,
    },
    'bundles/sql': {
      why: 'Statements know the database. The insert of bundles is also part of the statement that ends an order.',
      imports: list`bundles/insert-from.ts db lists contract:*`,
    },
    'executions/operator': {
      why: 'What an operator sees and decides, about executions of every feature.',
      imports: list`app-error.ts audit bundles clock.ts context.ts db esims executions executions/operator/sql idempotency ids
                   lists network secrets telemetry/clip.ts worker contract:*`,
    },
    'executions/operator/sql': {
      why: 'Statements over all accounts, composed of pieces of the executions.',
      imports: list`db executions lists contract:*`,
    },
    observations: {
      why: 'Network reports change eSIMs and bundles through functions of those features.',
      imports: list`app-error.ts bundles clock.ts context.ts db esims events idempotency ids network
                   observations/sql telemetry contract:*`,
    },
    'observations/sql': {
      why: 'Statements on the eSIMs and records that reports are about.',
      imports: list`db esims/lock.ts contract:*`,
    },
    sandbox: {
      why: 'It simulates the network; simulated reports are processed like real ones.',
      imports: list`app-error.ts bundles clock.ts context.ts db esims idempotency ids network observations
                   contract:*`,
    },
    retention: {
      why: 'Old rows are deleted by table and age. Events wait until the feed no longer promises them. Features state how long theirs are kept.',
      imports: list`clock.ts db feed ids/uuid-range.ts overview/stages.ts retention/sql worker`,
    },
    'retention/sql': {
      why: 'Statements know the database.',
      imports: list`db ids/uuid-range.ts`,
    },
    webhooks: {
      why: 'SQL fragments and signals shared by its subfolders.',
      imports: list`context.ts idempotency`,
    },
    'webhooks/guard': {
      why: 'Whether an address is safe depends only on the address and the policy.',
      imports: list`addresses telemetry/clip.ts npm:undici`,
    },
    'webhooks/names': {
      why: 'Resolves host names; the guard checks the addresses.',
      imports: list`webhooks/guard`,
    },
    'webhooks/endpoints': {
      why: 'An endpoint can exist without a delivery.',
      imports: list`app-error.ts audit clock.ts context.ts db events idempotency ids lists metadata secrets
                   telemetry/clip.ts webhooks webhooks/endpoints/sql webhooks/guard contract:*`,
    },
    'webhooks/endpoints/sql': {
      why: 'Statements know the database.',
      imports: list`db lists webhooks contract:*`,
    },
    'webhooks/deliveries': {
      why: 'Past and pending deliveries of an endpoint, as the API shows them.',
      imports: list`app-error.ts audit clock.ts context.ts db events idempotency ids lists telemetry/clip.ts
                   webhooks webhooks/deliveries/sql webhooks/endpoints webhooks/ordered contract:*`,
    },
    'webhooks/deliveries/sql': {
      why: 'Statements know the database.',
      imports: list`db lists webhooks contract:*`,
    },
    'webhooks/ordered': {
      why: 'Which delivery of an eSIM is next depends on the feed and on what has ended, not on who asks.',
      imports: list`db ids/uuid-range.ts webhooks/ordered/sql`,
    },
    'webhooks/ordered/sql': {
      why: 'Statements know the database.',
      imports: list`db webhooks webhooks/ordered/order-key.ts`,
    },
    'webhooks/recoveries': {
      why: 'A recovery searches the event log and queues deliveries to its endpoint.',
      imports: list`app-error.ts audit clock.ts context.ts db events idempotency ids lists telemetry/clip.ts webhooks
                   webhooks/deliveries webhooks/endpoints webhooks/ordered webhooks/recoveries/sql contract:*`,
    },
    'webhooks/recoveries/sql': {
      why: 'Statements know the database.',
      imports: list`db events/iccid-of-body.ts lists webhooks contract:*`,
    },
    'webhooks/stats': {
      why: 'Counts attempts of endpoints per hour. Whoever sends reports to it.',
      imports: list`clock.ts context.ts db ids webhooks/endpoints webhooks/stats/sql worker contract:*`,
    },
    'webhooks/stats/sql': {
      why: 'Statements know the database.',
      imports: list`db`,
    },
    'webhooks/sender': {
      why: 'It sends due deliveries in the background, and disables an endpoint that keeps failing.',
      imports: list`clock.ts db ids secrets webhooks webhooks/endpoints webhooks/guard webhooks/names webhooks/ordered
                   webhooks/sender/sql worker contract:* npm:pino npm:undici`,
    },
    'webhooks/sender/sql': {
      why: 'Statements know the database.',
      imports: list`db webhooks webhooks/sender/lanes.ts`,
    },

    overview: {
      why: 'It counts the events of the feed in the background, and shows the counts. No feature depends on it.',
      imports: list`clock.ts context.ts db ids lists overview/sql processes telemetry/throughput.ts contract:*`,
    },
    'overview/sql': {
      why: 'Statements know the database, and how events are found by the ids in them.',
      imports: list`db events/ids-in-body.ts overview/stages.ts`,
    },
    lookups: {
      why: 'It shows what several features wrote. No feature depends on it.',
      imports: list`app-error.ts clock.ts context.ts esims events executions ids lists lookups/sql webhooks/deliveries contract:*`,
    },
    'lookups/sql': {
      why: 'Statements know the database. A search reads one row of any table by its id.',
      imports: list`db contract:*`,
    },
    dashboard: {
      why: 'Who is signed in to the page. What they do there are operations of other features.',
      imports: list`app-error.ts audit clock.ts context.ts dashboard/sql db idempotency ids lists telemetry/clip.ts
                   contract:*`,
    },
    'dashboard/sql': {
      why: 'Statements know the database.',
      imports: list`db lists`,
    },

    // Above the features.
    background: {
      why: 'It passes workers and chores the functions they run.',
      imports: list`audit bundles config dashboard db esims executions executions/operator feed idempotency network
                   overview processes retention service.ts telemetry
                   webhooks/deliveries webhooks/endpoints webhooks/guard webhooks/names webhooks/ordered webhooks/recoveries
                   webhooks/sender webhooks/stats worker
                   contract:* npm:pino`,
    },
    http: {
      why: 'It maps requests to operations. No folder below depends on HTTP.',
      imports: list`accounts addresses app-error.ts audit bundles context.ts dashboard db/database.ts db/unavailable.ts esims events
                   executions executions/operator feed/consumers http/dashboard http/feed http/mcp idempotency
                   ids/uuid-range.ts ids/uuid.ts lists lookups observations overview processes products request-log sandbox
                   service.ts telemetry webhooks/deliveries webhooks/endpoints webhooks/recoveries webhooks/stats
                   contract:* reference:* npm:ajv npm:fast-json-stringify npm:fastify`,
    },
    'http/feed': {
      why: 'Streams and waiting requests: the only answers that outlive their handler.',
      imports: list`accounts app-error.ts dashboard db/database.ts feed feed/consumers http service.ts telemetry
                   contract:* npm:fastify`,
    },
    'http/dashboard': {
      why: 'The page’s files and its sessions. Its calls are requests to our own API.',
      imports: list`accounts app-error.ts audit dashboard http service.ts npm:fastify`,
    },
    'http/mcp': {
      why: 'Agents use the same operations as other callers: the mount calls our own API through the sdk.',
      imports: list`app-error.ts http service.ts telemetry mcp:* sdk:* npm:fastify`,
    },
    operator: {
      why: 'The operator’s commands start the service, choose its network, and may read every feature’s tables.',
      imports: list`accounts accounts/sql audit clock.ts config context.ts dashboard db deployment esims
                   executions/operator ids network network/core network/es2plus network/mock overview processes
                   products products/sql secrets secrets/sql serve.ts telemetry webhooks/endpoints worker
                   contract:* npm:pino`,
    },
  },
  bench: {
    '.': {
      why: 'It runs scenarios and writes results.',
      imports: list`scenarios support`,
    },
    load: {
      why: 'Load is generated in separate processes.',
      imports: list`support/child.ts npm:pg npm:undici`,
    },
    scenarios: {
      why: 'A scenario measures from outside. It encrypts the secrets it inserts as the service does, and sweeps when it measures that.',
      imports: list`support server:db/database.ts server:retention/rules.ts server:retention/sweep.ts
                   server:secrets/keyring.ts server:secrets/sealed-places.ts npm:pg`,
    },
    support: {
      why: 'Deployments, load and statistics for all scenarios.',
      imports: list`load results.ts server:db/embedded/start.ts npm:pg`,
    },
  },
  faults: {
    '.': {
      why: 'It plans, runs and reports.',
      imports: list`breaks checks clients deployment history readers contract:*`,
    },
    breaks: {
      why: 'Each guarantee is broken once on purpose.',
      imports: list`checks deployment plan.ts`,
    },
    'breaks/preload': {
      why: 'Preloaded into a server process, so it must not load the rest of the checker.',
      imports: list`npm:pg`,
    },
    checks: {
      why: 'A check uses only the recorded history, so it can be replayed.',
      imports: list`history contract:* npm:standardwebhooks npm:stripe`,
    },
    clients: {
      why: 'API clients that record what they see.',
      imports: list`. deployment history contract:*`,
    },
    deployment: {
      why: 'It starts the service and talks to it, and imports only what that takes.',
      imports: list`history random.ts until.ts contract:* server:config/read-config.ts
                   server:db/embedded/start.ts server:serve.ts server:telemetry/log.ts npm:pg`,
    },
    history: {
      why: 'The recorded observations, as data.',
      imports: list`contract:*`,
    },
    readers: {
      why: 'They follow the event feed through the faults and record what they see.',
      imports: list`. clients history contract:*`,
    },
  },
};
