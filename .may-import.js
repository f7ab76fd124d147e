const list = ([text]) => text.split(/\s+/).filter(Boolean);

/**
 * What each folder may import, and why. What is not listed is refused, types included: `.dependency-cruiser.js` makes rules of
 * each row. A folder stands for the files directly in it; folders inside it have rows of their own. `.` is the top of `src`,
 * `npm:x` a package, `workspace:*` another workspace, `workspace:path` a part of it. Everyone may use Node's modules but the
 * contract and the sdk; tests may use any package.
 */
export const mayImport = {
  contract: {
    '.': {
      why: 'The API as data: everything derives from it, so it depends on nothing of ours.',
      imports: list`npm:typebox`,
    },
  },
  reference: {
    '.': {
      why: 'The page is a function of the contract: what it shows is what the contract says.',
      imports: list`contract:*`,
    },
  },
  sdk: {
    '.': {
      why: 'It runs in browsers and at the edge, with nothing beside it.',
      imports: list``,
    },
  },
  mcp: {
    '.': {
      why: 'Agents can do what other callers of the API can do: there is no private way in.',
      imports: list`tools contract:* sdk:* npm:@modelcontextprotocol/server`,
    },
    tools: {
      why: 'A tool is a few calls of the sdk.',
      imports: list`. contract:* sdk:*`,
    },
  },
  cli: {
    '.': {
      why: 'The command line is a caller of the API like any other.',
      imports: list`commands print contract:* sdk:* npm:commander`,
    },
    commands: {
      why: 'A command reads its options, calls the sdk and prints; `simplane mcp` starts the tools on stdio.',
      imports: list`. completion listen print contract:* mcp:* sdk:* npm:commander`,
    },
    completion: {
      why: 'Completion is derived from the commands and the contract.',
      imports: list`contract:* npm:commander`,
    },
    listen: {
      why: 'It receives and forwards; the command decides what is shown.',
      imports: list`sdk:*`,
    },
    print: {
      why: 'Printing knows values and terminals, and no command.',
      imports: list`command-error.ts sdk:* npm:commander npm:picocolors npm:uqr`,
    },
  },
  server: {
    // The files at the top have a row each, so a new one needs a reason to be there.
    'main.ts': {
      why: 'The binary parses a command and hands over.',
      imports: list`config operator npm:commander`,
    },
    'serve.ts': {
      why: 'It assembles a process, so it knows most folders; the operator’s command hands it the network.',
      imports: list`accounts background clock.ts config db deployment http ids network observations products
                   secrets service.ts telemetry npm:pino`,
    },
    'service.ts': {
      why: 'What a process shares: types of the long-lived parts.',
      imports: list`accounts/key-directory.ts clock.ts db ids secrets/keyring.ts telemetry/metrics.ts
                   webhooks/guard/policy.ts npm:pino`,
    },
    'context.ts': {
      why: 'What an operation gets: types of what is below the features.',
      imports: list`app-error.ts clock.ts db idempotency ids secrets/keyring.ts webhooks/guard/policy.ts
                   contract:*`,
    },
    'app-error.ts': {
      why: 'Every folder may throw one, so it depends on almost nothing.',
      imports: list`telemetry/clip.ts contract:*`,
    },
    'clock.ts': {
      why: 'Time is below everything.',
      imports: list``,
    },

    // Below the features.
    addresses: {
      why: 'Arithmetic on IP addresses.',
      imports: list``,
    },
    ids: {
      why: 'How ids are made and written.',
      imports: list`clock.ts contract:*`,
    },
    lists: {
      why: 'Pages and cursors, for rows of any kind.',
      imports: list`app-error.ts contract:*`,
    },
    worker: {
      why: 'The loop that claims and settles work, whatever the work is.',
      imports: list``,
    },
    db: {
      why: 'The database layer is below all features.',
      imports: list`db/embedded ids npm:pg`,
    },
    'db/embedded': {
      why: 'The launcher starts PostgreSQL and knows nothing of what is stored in it.',
      imports: list`npm:pg`,
    },
    telemetry: {
      why: 'Features report to it; it asks none of them.',
      imports: list`db npm:pino npm:prom-client`,
    },
    secrets: {
      why: 'Sealing is the same for every secret; the caller says which one it is.',
      imports: list`db ids`,
    },
    deployment: {
      why: 'Which mode this database was made for.',
      imports: list`config/config-error.ts db`,
    },
    config: {
      why: 'Settings are read before anything runs; from other folders it takes only parsers and types of values.',
      imports: list`accounts/api-key-text.ts addresses db/connection-url.ts network secrets/encryption-keys.ts
                   webhooks/guard/policy.ts contract:*`,
    },
    idempotency: {
      why: 'Keys and stored answers are the same for every operation.',
      imports: list`app-error.ts clock.ts db secrets worker`,
    },
    network: {
      why: 'The port: what we ask of a network, in plain types. It has no feature to look things up in.',
      imports: list``,
    },
    'network/mock': {
      why: 'A driver is a function of its call.',
      imports: list`network`,
    },
    'network/es2plus': {
      why: 'A driver is a function of its call: it has no database.',
      imports: list`network telemetry/clip.ts contract:* npm:undici`,
    },
    'network/core': {
      why: 'A driver is a function of its call; its commands are signed as webhooks are.',
      imports: list`network secrets/service-signature.ts telemetry/clip.ts npm:undici`,
    },

    // Features, from those that others use to those that use others.
    events: {
      why: 'Features tell events what happened, never the other way round. Deliveries are queued by the same SQL statement.',
      imports: list`app-error.ts clock.ts context.ts db idempotency ids lists telemetry/clip.ts contract:*`,
    },
    accounts: {
      why: 'Who calls. No account needs a product or an eSIM.',
      imports: list`clock.ts context.ts db ids secrets/secret-file.ts contract:*`,
    },
    products: {
      why: 'The catalogue says what is sold, not who bought it.',
      imports: list`app-error.ts clock.ts context.ts db lists telemetry/clip.ts contract:* npm:ajv`,
    },
    executions: {
      why: 'An execution is carried out by the runner it is given, so it knows no feature.',
      imports: list`app-error.ts clock.ts context.ts db idempotency ids lists network secrets/keyring.ts
                   telemetry/clip.ts worker contract:*`,
    },
    esims: {
      why: 'An eSIM can exist without a bundle. It emits events and does not know who receives them.',
      imports: list`app-error.ts clock.ts config/iccid-ranges.ts context.ts db events executions idempotency ids
                   lists network products secrets telemetry/clip.ts contract:* npm:uqr`,
    },
    bundles: {
      why: 'A bundle belongs to an eSIM, so bundles know eSIMs and not the other way round.',
      imports: list`app-error.ts clock.ts context.ts db esims events executions idempotency ids lists products
                   contract:*`,
    },
    observations: {
      why: 'What networks report changes eSIMs and their bundles, through functions of both.',
      imports: list`bundles clock.ts context.ts db esims events idempotency ids network telemetry contract:*`,
    },
    sandbox: {
      why: 'It plays the network: what it simulates is taken in like a report.',
      imports: list`app-error.ts bundles clock.ts context.ts db esims idempotency ids network observations
                   contract:*`,
    },
    retention: {
      why: 'Old rows are deleted by table and age, whatever they mean.',
      imports: list`clock.ts db worker`,
    },
    webhooks: {
      why: 'Pieces of SQL that several of its folders need.',
      imports: list``,
    },
    'webhooks/guard': {
      why: 'Whether an address is safe depends on the address and the policy only.',
      imports: list`addresses telemetry/clip.ts npm:undici`,
    },
    'webhooks/names': {
      why: 'Names become addresses; the guard judges them.',
      imports: list`webhooks/guard`,
    },
    'webhooks/endpoints': {
      why: 'An endpoint can exist without a delivery.',
      imports: list`app-error.ts clock.ts context.ts db events idempotency ids lists secrets telemetry/clip.ts
                   webhooks webhooks/guard contract:*`,
    },
    'webhooks/deliveries': {
      why: 'What was and will be sent to an endpoint, as callers see it.',
      imports: list`app-error.ts clock.ts context.ts db events idempotency ids lists telemetry/clip.ts
                   webhooks/endpoints contract:*`,
    },
    'webhooks/sender': {
      why: 'It sends what is due, and disables an endpoint that keeps failing. No caller waits for it.',
      imports: list`clock.ts db ids secrets webhooks webhooks/endpoints webhooks/guard webhooks/names worker
                   contract:* npm:pino npm:undici`,
    },

    // Above the features.
    background: {
      why: 'It hands workers and chores the functions that they run.',
      imports: list`bundles config db esims executions idempotency network retention service.ts telemetry
                   webhooks/deliveries webhooks/endpoints webhooks/guard webhooks/names webhooks/sender worker
                   contract:* npm:pino`,
    },
    http: {
      why: 'Requests become calls of operations. Nothing below knows that there is HTTP.',
      imports: list`accounts addresses app-error.ts bundles context.ts db/unavailable.ts esims events executions
                   http/mcp idempotency observations products sandbox service.ts telemetry webhooks/deliveries
                   webhooks/endpoints contract:* reference:* npm:ajv npm:fast-json-stringify npm:fastify`,
    },
    'http/mcp': {
      why: 'Agents enter by the same operations as everybody else: the mount calls our own API through the sdk.',
      imports: list`app-error.ts http service.ts telemetry mcp:* sdk:* npm:fastify`,
    },
    operator: {
      why: 'The operator’s commands start the service, choose its network, and may read every feature’s tables.',
      imports: list`accounts clock.ts config db deployment ids network network/core network/es2plus network/mock
                   products secrets serve.ts telemetry contract:* npm:pino`,
    },
  },
  bench: {
    '.': {
      why: 'It runs scenarios and writes results.',
      imports: list`scenarios support`,
    },
    load: {
      why: 'Load comes from processes of its own.',
      imports: list`support/child.ts npm:pg npm:undici`,
    },
    scenarios: {
      why: 'A scenario measures from outside; secrets in rows that it inserts are sealed as the service does it.',
      imports: list`support server:secrets/keyring.ts server:secrets/sealed-places.ts npm:pg`,
    },
    support: {
      why: 'Deployments, load and figures for all scenarios.',
      imports: list`load results.ts server:db/embedded/start.ts npm:pg`,
    },
  },
  faults: {
    '.': {
      why: 'It plans, runs and reports.',
      imports: list`breaks checks clients deployment history contract:*`,
    },
    breaks: {
      why: 'Each promise is broken once on purpose.',
      imports: list`checks deployment plan.ts`,
    },
    'breaks/preload': {
      why: 'Preloaded into a server process, where the rest of the checker must not run.',
      imports: list`npm:pg`,
    },
    checks: {
      why: 'A guarantee is judged by what was seen from outside: a check that could ask would not be replayable.',
      imports: list`history contract:* npm:standardwebhooks npm:stripe`,
    },
    clients: {
      why: 'Callers of the API that record what they see.',
      imports: list`. deployment history contract:*`,
    },
    deployment: {
      why: 'It starts the service and talks to it; of its insides it knows only how to start them.',
      imports: list`history random.ts until.ts contract:* server:config/read-config.ts
                   server:db/embedded/start.ts server:serve.ts server:telemetry/log.ts npm:pg`,
    },
    history: {
      why: 'What was seen, as data.',
      imports: list`contract:*`,
    },
  },
};
