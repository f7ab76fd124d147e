import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { coreModeOf } from './core-mode-of.ts';
import { readConfig } from './read-config.ts';
import { settings } from './settings.ts';

const secret = 'not-a-secret-but-as-long-as-one-has-to-be';

describe('the core network settings', () => {
  test.each([
    'https://core.example.com/esim-commands',
    'https://10.1.2.3:8443/',
    'http://127.0.0.1:3100/',
    'http://localhost:3100/commands?site=1',
    'http://[::1]:3100/',
  ])('accept %s', (url) => {
    const { config } = readConfig({ SIMPLANE_CORE_URL: url, SIMPLANE_CORE_SECRET: secret });
    expect([config.coreUrl, config.coreSecret]).toEqual([url, secret]);
  });

  test.each([
    'http://core.example.com/',
    'http://10.1.2.3/',
    'http://127.0.0.1.example.com/',
    'https://user:password@core.example.com/',
    'https://core.example.com/#part',
    'ftp://127.0.0.1/',
    'core.example.com',
  ])('refuse %s', (url) => {
    expect(() => readConfig({ SIMPLANE_CORE_URL: url, SIMPLANE_CORE_SECRET: secret })).toThrow(
      /^SIMPLANE_CORE_URL takes an `https:\/\/` URL/,
    );
  });

  test('refuse a short secret without repeating it', () => {
    const short = 'too-short-a-secret';
    const read = () =>
      readConfig({ SIMPLANE_CORE_URL: 'https://core.example.com/', SIMPLANE_CORE_SECRET: short });
    expect(read).toThrow(/^SIMPLANE_CORE_SECRET takes 32 to 200/);
    expect(read).not.toThrow(short);
  });

  test('must be set together', () => {
    expect(() => readConfig({ SIMPLANE_CORE_URL: 'https://core.example.com/' })).toThrow(/set together/);
    expect(() => readConfig({ SIMPLANE_CORE_SECRET: secret })).toThrow(/set together/);
  });
});

test('invalid ICCID ranges are rejected at startup, naming the setting and what it takes', () => {
  expect(readConfig({}).config.iccidRanges).toBeNull();
  expect(readConfig({ SIMPLANE_ICCID_RANGES: '8988303' }).config.iccidRanges).toHaveLength(1);
  expect(() => readConfig({ SIMPLANE_ICCID_RANGES: '1234567' })).toThrow(
    /^SIMPLANE_ICCID_RANGES takes ranges .* got "1234567"$/,
  );
});

describe('SIMPLANE_SHUTDOWN_TIMEOUT', () => {
  const live = {
    SIMPLANE_MODE: 'live',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    SIMPLANE_EXECUTION_LEASE: '60s',
    SIMPLANE_NETWORK_TIMEOUT: '30s',
  };

  test('is at least the network timeout for a live worker', () => {
    expect(() => readConfig(live)).toThrow(/SIMPLANE_SHUTDOWN_TIMEOUT must not be shorter/);
    expect(() => readConfig({ ...live, SIMPLANE_SHUTDOWN_TIMEOUT: '30s' })).not.toThrow();
  });

  test('may be shorter for processes that make no unrepeatable calls', () => {
    const api = { ...live, SIMPLANE_ROLE: 'api', DATABASE_URL: 'postgresql://db.example.com/x' };
    expect(() => readConfig(api)).not.toThrow();
    expect(() => readConfig({ ...live, SIMPLANE_MODE: 'sandbox' })).not.toThrow();
  });
});

test('a lease that ends with a call is refused, because a slow call would be made twice', () => {
  const lease = (SIMPLANE_EXECUTION_LEASE: string) => () =>
    readConfig({ SIMPLANE_EXECUTION_LEASE, SIMPLANE_NETWORK_TIMEOUT: '10s' });
  expect(lease('10s')).toThrow(/^SIMPLANE_EXECUTION_LEASE must be longer than SIMPLANE_NETWORK_TIMEOUT/);
  expect(lease('10001ms')).not.toThrow();
});

const live = {
  SIMPLANE_MODE: 'live',
  SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  DATABASE_URL: 'postgresql://db.example.com/x',
};
const smdp = {
  ...live,
  SIMPLANE_ES2_URL: 'https://10.0.0.1:8443/es2',
  SIMPLANE_ES2_CERT: 'cert.pem',
  SIMPLANE_ES2_KEY: 'key.pem',
  SIMPLANE_ES2_REQUESTER_ID: 'us',
};

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['SIMPLANE_ROLE=api needs DATABASE_URL', { SIMPLANE_ROLE: 'api' }, { DATABASE_URL: live.DATABASE_URL }],
  ['SIMPLANE_ROLE=worker needs DATABASE_URL', { SIMPLANE_ROLE: 'worker' }, { SIMPLANE_ROLE: 'all' }],
  [
    'SIMPLANE_DATABASE_DIRECT_URL needs DATABASE_URL',
    { SIMPLANE_DATABASE_DIRECT_URL: live.DATABASE_URL },
    { DATABASE_URL: live.DATABASE_URL },
  ],
  [
    'SIMPLANE_ES2_… is for live mode only',
    { SIMPLANE_ES2_LISTEN_PORT: '8443' },
    { SIMPLANE_ES2_LISTEN_PORT: '' },
  ],
  ['SIMPLANE_ES2_… is for live mode only', { ...smdp, SIMPLANE_MODE: 'sandbox' }, { SIMPLANE_ES2_URL: '' }],
  [
    'SIMPLANE_ES2_URL is required for a worker in live mode',
    { ...live, SIMPLANE_ROLE: 'worker' },
    { ...live, SIMPLANE_ROLE: 'all' },
  ],
  [
    'SIMPLANE_ES2_SMDP_ADDRESS is required: the host of SIMPLANE_ES2_URL is not a domain name',
    smdp,
    { SIMPLANE_ES2_SMDP_ADDRESS: 'smdp.example.com' },
  ],
  [
    'SIMPLANE_ES2_LISTEN_PORT needs SIMPLANE_ES2_LISTEN_CLIENT_CA as well',
    {
      ...live,
      SIMPLANE_ES2_LISTEN_PORT: '8443',
      SIMPLANE_ES2_LISTEN_CERT: 'cert.pem',
      SIMPLANE_ES2_LISTEN_KEY: 'key.pem',
    },
    { SIMPLANE_ES2_LISTEN_CLIENT_CA: 'ca.pem' },
  ],
  [
    'SIMPLANE_ES2_URL needs SIMPLANE_ES2_CERT, SIMPLANE_ES2_KEY, SIMPLANE_ES2_REQUESTER_ID as well',
    { ...live, SIMPLANE_ES2_URL: 'https://smdp.example.com' },
    { SIMPLANE_ES2_CERT: 'cert.pem', SIMPLANE_ES2_KEY: 'key.pem', SIMPLANE_ES2_REQUESTER_ID: 'us' },
  ],
  ['SIMPLANE_MOCK_DELAY is too long', { SIMPLANE_MOCK_DELAY: '500ms' }, { SIMPLANE_MOCK_DELAY: '499ms' }],
  [
    'SIMPLANE_API_KEY is for the sandbox only',
    { ...live, SIMPLANE_API_KEY: 'sp_test_0123456789abcdef' },
    { SIMPLANE_API_KEY: '' },
  ],
  [
    'SIMPLANE_ENCRYPTION_KEYS is required in live mode',
    { SIMPLANE_MODE: 'live' },
    { SIMPLANE_ENCRYPTION_KEYS: live.SIMPLANE_ENCRYPTION_KEYS },
  ],
  [
    'DATABASE_URL has percent-encoding that is not UTF-8',
    { DATABASE_URL: 'postgresql://%ff.example.com/x' },
    { DATABASE_URL: live.DATABASE_URL },
  ],
])('settings that contradict each other prevent the start, and only they: %s', (says, env, mended) => {
  expect(() => readConfig(env)).toThrow(says);
  expect(() => readConfig({ ...env, ...mended })).not.toThrow();
});

describe('the DNS servers for webhooks', () => {
  test('are addresses with an optional port', () => {
    const { config } = readConfig({ SIMPLANE_WEBHOOK_DNS_SERVERS: '9.9.9.9, [2620:fe::fe]:5353' });
    expect(config.webhookDnsServers).toEqual(['9.9.9.9', '[2620:fe::fe]:5353']);
    expect(readConfig({}).config.webhookDnsServers).toBeNull();
  });

  test.each(['dns.example', '9.9.9.9;1.1.1.1', ','])('reject %s', (value) => {
    expect(() => readConfig({ SIMPLANE_WEBHOOK_DNS_SERVERS: value })).toThrow(
      /^SIMPLANE_WEBHOOK_DNS_SERVERS takes addresses/,
    );
  });
});

describe('the accepted names of SM-DP+ certificates', () => {
  const read = (text: string) => readConfig({ SIMPLANE_ES2_LISTEN_SUBJECTS: text }).config.es2ListenSubjects;

  test('may contain spaces, and are null if unset', () => {
    expect(read('es2.smdp.example, Acme SM-DP+')).toEqual(['es2.smdp.example', 'Acme SM-DP+']);
    expect(read('')).toBeNull();
  });

  test.each(['.smdp.example', 'a,', ',', 'a,.b', 'a\u0007'])('are not %j', (text) => {
    expect(() => read(text)).toThrow(/^SIMPLANE_ES2_LISTEN_SUBJECTS takes names separated by commas/);
  });
});

test('the port of the metrics is unset, a number or off', () => {
  const read = (text: string) => readConfig({ SIMPLANE_METRICS_PORT: text }).config.metricsPort;
  expect(['', '9464', '0', 'off'].map(read)).toEqual([null, 9464, 0, 'off']);
  for (const text of ['on', '65536', '-1', 'OFF'])
    expect(() => read(text)).toThrow(
      /^SIMPLANE_METRICS_PORT takes `off`, or a whole number from 0 to 65535; got/,
    );
});

test('one address may have a quarter of the connections, unless set otherwise', () => {
  const perAddress = (env: Record<string, string>) => readConfig(env).config.maxConnectionsPerAddress;
  expect(perAddress({})).toBe(1_000);
  expect(perAddress({ SIMPLANE_MAX_CONNECTIONS: '90' })).toBe(23);
  expect(perAddress({ SIMPLANE_MAX_CONNECTIONS_PER_ADDRESS: '4000' })).toBe(4_000);
});

test('a setting that became a constant still applies, with a warning that says what to do', () => {
  const { config, warnings } = readConfig({ SIMPLANE_DRAIN_TIMEOUT: '90s', SIMPLANE_FEED_STREAMS: '' });
  expect(config.retired).toEqual({ drainTimeoutMs: 90_000 });
  expect(warnings).toEqual([
    expect.stringMatching(/^SIMPLANE_DRAIN_TIMEOUT is no longer a setting .* proxy/),
  ]);
  expect(() => readConfig({ SIMPLANE_DRAIN_TIMEOUT: '90' })).toThrow(/^SIMPLANE_DRAIN_TIMEOUT takes a dur/);
  expect(readConfig({})).toMatchObject({ config: { retired: {} }, warnings: [] });
});

test.each(['e', 'eu1', 'eu.', 'EU', 'europewest', 'eu-west', ' eu'])(
  'the label of a cell is two to eight letters, so not %j',
  (label) => {
    expect(() => readConfig({ SIMPLANE_CELL: label })).toThrow(/^SIMPLANE_CELL takes two to eight letters/);
  },
);
test.each(['eu', 'europaea'])('the label of a cell can be %s', (label) => {
  expect(readConfig({ SIMPLANE_CELL: label }).config.cell).toBe(label);
});

test.each<[what: string, env: Record<string, string>]>([
  ['no slot for orders, so that none would ever run', { SIMPLANE_EXECUTION_CONCURRENCY: '0' }],
  ['a timeout that is over at once', { SIMPLANE_WEBHOOK_TIMEOUT: '0s' }],
  [
    'a timeout that Node would end at once, because its timers end after 24.8 days',
    { SIMPLANE_WEBHOOK_TIMEOUT: '25d' },
  ],
  ['a duration with another unit', { SIMPLANE_RETENTION: '30days' }],
  ['a pause that is none', { SIMPLANE_WEBHOOK_RETRY_SCHEDULE: '1s,soon' }],
  ['a proxy that is no network', { SIMPLANE_TRUSTED_PROXIES: '10.0.0.0/8,proxy.example.com' }],
  ['a status of a server that may have done what it was asked', { SIMPLANE_ES2_UNDONE_STATUSES: '503,500' }],
  ['a password in the address of the SM-DP+', { SIMPLANE_ES2_URL: 'https://me:password@smdp.example.com' }],
  ['a secret of the core with a space', { SIMPLANE_CORE_SECRET: `${secret} and more` }],
  ['a name for the SM-DP+ with a space', { SIMPLANE_ES2_REQUESTER_ID: 'us two' }],
  ['a version with more after it', { SIMPLANE_ES2_PROTOCOL_VERSION: '2.2.0-beta' }],
])('a setting does not take %s', (_, env) => {
  const [name = ''] = Object.keys(env);
  expect(() => readConfig(env)).toThrow(new RegExp(`^${name} takes `));
});

test.each(['SIMPLANE_API_KEY', 'DATABASE_URL', 'SIMPLANE_DATABASE_DIRECT_URL', 'SIMPLANE_ENCRYPTION_KEYS'])(
  'the error for %s does not repeat what may be a secret',
  (name) => {
    const read = () => readConfig({ [name]: 'mysql://me:hunter2@a' });
    expect(read).toThrow(new RegExp(`^${name} takes `));
    expect(read).not.toThrow('hunter2');
  },
);

test('a variable that is set to nothing counts as unset', () => {
  const empty = Object.values(settings).map(({ name }) => [name, '']);
  expect(readConfig(Object.fromEntries(empty))).toEqual(readConfig({}));
});

test('an order whose response was lost is sent again only if the SM-DP+ is known to recognise it', () => {
  const repeats = (env: Record<string, string>) => readConfig({ ...live, ...env }).config.es2Repeats;
  expect([repeats({}), repeats({ SIMPLANE_ES2_REPEATS: 'call-id' })]).toEqual(['none', 'call-id']);
});

test('in live, an order outlasts an outage of an hour and an endpoint one of days, while one that hangs is left soon', () => {
  const { executionRetryScheduleMs, webhookDisableAfterMs, webhookTimeoutMs } = readConfig(live).config;
  expect(executionRetryScheduleMs.reduce((sum, ms) => sum + ms)).toBeGreaterThan(3_600_000);
  expect([webhookDisableAfterMs, webhookTimeoutMs]).toEqual([5 * 86_400_000, 15_000]);
});

test('live mode limits rates and keeps only failed requests, unless it is told otherwise', () => {
  expect(readConfig({}).config).toMatchObject({ rateLimitPerSecond: 0, requestLogLevel: 'all' });
  expect(readConfig(live).config).toMatchObject({ rateLimitPerSecond: 100, requestLogLevel: 'errors' });
  const told = { ...live, SIMPLANE_RATE_LIMIT: '0', SIMPLANE_REQUEST_LOG: 'all' };
  expect(readConfig(told).config).toMatchObject({ rateLimitPerSecond: 0, requestLogLevel: 'all' });
});

test('a variable that looks like a setting and is none is named in a warning', () => {
  expect(readConfig({ SIMPLANE_WEBHOK_TIMEOUT: '5s', PATH: '/bin' }).warnings).toEqual([
    expect.stringMatching(/^SIMPLANE_WEBHOK_TIMEOUT is not a setting and is ignored/),
  ]);
});

test('the data folder does not depend on where the process goes later', () => {
  expect(readConfig({ SIMPLANE_DATA_DIR: 'data' }).config.dataDir).toBe(resolve('data'));
});

test('the core is a mock in a sandbox only, and gets states unless its operator asks for commands', () => {
  const core = { SIMPLANE_CORE_URL: 'https://core.example.com/', SIMPLANE_CORE_SECRET: secret };
  const modeOf = (env: Record<string, string>) => coreModeOf(readConfig(env).config);
  expect([modeOf({}), modeOf(live)]).toEqual(['mock', 'none']);
  const commands = { ...core, SIMPLANE_CORE_COMMANDS: 'suspend_resume' };
  expect([modeOf(core), modeOf({ ...live, ...core }), modeOf(commands)]).toEqual([
    'state',
    'state',
    'commands',
  ]);
});

test('`auto` is a process for each core, and never more than 64', () => {
  const { processes } = readConfig({ SIMPLANE_PROCESSES: 'auto' }).config;
  expect(processes).toBe(Math.min(availableParallelism(), 64));
});
