import { api, live, type Mutant } from './mutant.ts';

const choices = 'server/src/commands/choices.test.ts';
const configTest = 'server/src/config/values.test.ts';

/** Defaults and secrets of the platform, and what commands print. */
export const platformCommandMutants: readonly Mutant[] = [
  // server/src/platform
  {
    name: 'detail-of-a-database-error-logged',
    file: 'server/src/platform/db/describe-error.ts',
    find: 'return { code, severity, schema, table, column, constraint, routine };',
    replace: 'return { code, severity, schema, table, column, constraint, routine, detail: error.detail };',
    tests: [api('leaks')],
    why: 'The log has no values of rows, which PostgreSQL quotes in the detail of an error.',
  },
  {
    name: 'doctor-makes-an-encryption-key',
    file: 'server/src/platform/secrets/encryption-keys.ts',
    find: '  if (!config.encryptionKeys && !existsSync(pathIn(config.dataDir))) return [];\n',
    replace: '  void existsSync;\n',
    tests: ['server/src/platform/secrets/encryption-keys.test.ts'],
    why: 'A check changes nothing: it leaves no key in a folder that a process could then encrypt with.',
  },
  {
    name: 'database-runs-as-the-user-of-another-process',
    file: 'server/src/platform/db/embedded/cluster-location.ts',
    find: 'inUse.has(uid) ? null : await',
    replace: 'inUse.has(-uid) ? null : await',
    tests: ['server/src/platform/db/embedded/cluster-location.test.ts'],
    why: 'No running process has the uid of the embedded database, or it could read its files and signal it.',
  },
  {
    name: 'role-without-rights-stops-a-start-behind-a-pooler',
    file: 'server/src/platform/db/prepare-database.ts',
    find: '    return [];\n  });',
    replace: '    throw error;\n  });',
    tests: [api('role-settings')],
    why: 'A process starts behind a pooler although its settings could not be stored with the role, and says so.',
  },
  {
    name: 'database-password-in-an-error',
    file: 'server/src/platform/db/embedded/access.ts',
    find: `{ stderr: result.stderr.replaceAll(password, '…') }`,
    replace: '{ stderr: result.stderr }',
    tests: ['server/test/embedded/access.test.ts'],
    why: 'What PostgreSQL said when the password could not be set is shown without the password.',
  },
  {
    name: 'idle-connections-measured-as-used',
    file: 'server/src/platform/telemetry/metrics.ts',
    find: 'db.pool.totalCount - db.pool.idleCount',
    replace: 'db.pool.totalCount',
    tests: ['server/src/platform/telemetry/metrics.test.ts'],
    why: 'The metrics tell an operator how many connections to PostgreSQL are in use.',
  },

  // server/src/commands
  {
    name: 'esims-of-a-closed-account-terminated-by-default',
    file: 'server/src/commands/define-accounts.ts',
    find: `'also terminate its eSIMs', false)`,
    replace: `'also terminate its eSIMs', true)`,
    tests: [choices],
    why: 'Closing an account on the command line terminates its eSIMs only if the operator says so.',
  },
  {
    name: 'healthy-endpoints-listed-as-failing',
    file: 'server/src/commands/look.ts',
    find: 'query: { ...query, failing: true }',
    replace: 'query',
    tests: [api('commands')],
    why: 'The list of failing endpoints has no endpoint that works.',
  },
  {
    name: 'refused-states-of-the-core-not-listed',
    file: 'server/src/commands/core.ts',
    find: 'query: { limit: 100, state }',
    replace: `query: { limit: 100, state: 'pending' }`,
    tests: [api('commands')],
    why: 'The operator sees on the command line which states the core has refused.',
  },
  {
    name: 'doctor-misses-settings-of-the-role',
    file: 'server/src/commands/examine-connection.ts',
    find: 'return missing.length === 0',
    replace: 'return missing.length >= 0',
    tests: [api('role-settings')],
    why: 'Behind a pooler, doctor names the settings that the role lacks.',
  },
  {
    name: 'limit-of-endpoints-ignored-on-the-command-line',
    file: 'server/src/commands/accounts.ts',
    find: `  if (options.maxWebhookEndpoints !== undefined)
    limits.max_webhook_endpoints = parseLimit('--max-webhook-endpoints', options.maxWebhookEndpoints, 0);
`,
    replace: '',
    tests: [choices],
    why: 'An account gets the limit of webhook endpoints that the operator gives it.',
  },
  {
    name: 'link-to-the-default-port-of-a-sandbox',
    file: 'server/src/commands/dashboard-link.ts',
    find: `config.mode === 'sandbox' ? await readAddress`,
    replace: `config.mode === 'live' ? await readAddress`,
    tests: [api('commands')],
    why: 'The link that signs in leads to where the sandbox listens, also if it chose another port.',
  },
  {
    name: 'doctor-silent-until-a-certificate-has-ended',
    file: 'server/src/commands/examine-smdp.ts',
    find: '- Date.now() < expiryWarningMs',
    replace: '- Date.now() < 0 * expiryWarningMs',
    tests: [live('certificates')],
    why: 'Doctor warns a month before a certificate ends, not when no order goes through any more.',
  },

  // server/src/config
  {
    name: 'live-endpoint-disabled-after-minutes',
    file: 'server/src/config/webhook-settings.ts',
    find: `disableAfter: '5d',`,
    replace: `disableAfter: '5m',`,
    tests: [configTest],
    why: 'In live mode an endpoint may fail for days before its deliveries end.',
  },
  {
    name: 'hanging-receiver-waited-for-by-default',
    file: 'server/src/config/webhook-settings.ts',
    find: `    '15s',\n`,
    replace: `    '15m',\n`,
    tests: [configTest],
    why: 'A receiver that does not answer holds a delivery’s place for 15 s, unless the operator sets another time.',
  },
  {
    name: 'live-orders-fail-in-a-short-outage',
    file: 'server/src/config/order-settings.ts',
    find: `live: '1s,5s,15s,30s,1m,2m,5m,10m,30m,1h',`,
    replace: `live: '1s,5s',`,
    tests: [configTest],
    why: 'A live order outlasts an outage of the network of more than an hour.',
  },
  {
    name: 'empty-variable-is-a-value',
    file: 'server/src/config/read-config.ts',
    find: 'env[name] || fallback',
    replace: 'env[name] ?? fallback',
    tests: [configTest],
    why: 'A variable that is set to nothing, as in a compose file, counts as unset, so its default applies.',
  },

  // server/src/*.ts
  {
    name: 'last-requests-before-a-stop-not-logged',
    file: 'server/src/serve.ts',
    find: '    await service.requestLog.stop(lastLinesMs);\n',
    replace: '    void lastLinesMs;\n',
    tests: ['server/test/process/serving.test.ts'],
    why: 'A process writes the last lines of the request log before it ends.',
  },
  {
    name: 'address-that-stands-for-all-told-to-clients',
    file: 'server/src/serve.ts',
    find: `host === '0.0.0.0' || `,
    replace: '',
    tests: ['server/test/process/metrics-port.test.ts'],
    why: 'A process that listens everywhere tells an address of this machine: 0.0.0.0 is none that a client can rely on.',
  },
];
