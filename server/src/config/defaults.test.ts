import { expect, test } from 'vitest';
import { readConfig } from './read-config.ts';
import { retiredSettings } from './retired-settings.ts';
import { settings } from './settings.ts';
import { duration, integer, timeout } from './values.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

const live = {
  SIMPLANE_MODE: 'live',
  SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  DATABASE_URL: 'postgresql://db.example.com/x',
};

test('where nothing is set, one process does all with a sandbox’s numbers, and keeps what the docs promise', () => {
  expect(readConfig({}).config).toMatchObject({
    ...{ mode: 'sandbox', role: 'all', processes: 1, port: 4_000, dashboard: 'on', logLevel: 'info' },
    ...{ databasePoolSize: 16, maxConnections: 4_000, trustedProxies: [] },
    ...{ retentionMs: 30 * day, usageMaxAgeMs: 35 * day, shutdownTimeoutMs: 20 * second },
    ...{ executionLeaseMs: 30 * second, networkTimeoutMs: 10 * second, executionConcurrency: 128 },
    ...{ mockDelayMs: 300, coreCommands: 'set_service' },
    ...{ es2Repeats: 'none', es2Release: 'with-confirm', es2IccidPadding: 'none', es2IccidCheck: 'none' },
    ...{ es2ProtocolVersion: '2.2.0', es2ListenHost: '127.0.0.1', es2UndoneStatuses: new Set([503]) },
    executionRetryScheduleMs: [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000],
    webhookRetryScheduleMs: [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 120_000],
    ...{ webhookDisableAfterMs: 30 * second, webhookDisableMinFailures: 6, webhookEndpointLimit: 1_000 },
  });
});

test('in live, orders and webhooks are tried for hours and days, and an account has fewer endpoints', () => {
  expect(readConfig(live).config).toMatchObject({
    executionRetryScheduleMs: [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600].map((one) => one * second),
    webhookRetryScheduleMs: [
      ...[5 * second, 5 * minute, 30 * minute],
      ...[2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
    ],
    ...{ webhookDisableMinFailures: 20, webhookEndpointLimit: 100 },
  });
});

test('what is set holds in both modes, also where the modes differ', () => {
  const env = {
    ...{ SIMPLANE_EXECUTION_RETRY_SCHEDULE: '7s', SIMPLANE_WEBHOOK_RETRY_SCHEDULE: '8s,9s' },
    ...{ SIMPLANE_WEBHOOK_DISABLE_AFTER: '0s', SIMPLANE_WEBHOOK_DISABLE_MIN_FAILURES: '3' },
    SIMPLANE_WEBHOOK_ENDPOINT_LIMIT: '4',
  };
  for (const mode of [{}, live])
    expect(readConfig({ ...mode, ...env }).config).toMatchObject({
      ...{ executionRetryScheduleMs: [7_000], webhookRetryScheduleMs: [8_000, 9_000] },
      ...{ webhookDisableAfterMs: 0, webhookDisableMinFailures: 3, webhookEndpointLimit: 4 },
    });
});

test('a duration has one of five units, and no sign, fraction or space', () => {
  expect(['7ms', '7s', '7m', '7h', '7d', '0s'].map(duration.parse)).toEqual([
    ...[7, 7_000, 420_000, 25_200_000, 604_800_000, 0],
  ]);
  for (const text of ['7', '7w', '7S', '-7s', '0.5s', ' 7s', '7 s', '7s ', 's', '1234567890ms'])
    expect([text, duration.parse(text)]).toEqual([text, undefined]);
});

test('a timeout is one that a timer of Node can wait for', () => {
  expect(['1ms', '596h', '24d'].map(timeout.parse)).toEqual([1, 596 * hour, 24 * day]);
  expect(['0ms', '597h', '25d'].map(timeout.parse)).toEqual([undefined, undefined, undefined]);
});

test('a whole number is within its bounds, and only digits', () => {
  const { parse, takes } = integer(2, 40);
  expect(takes).toBe('a whole number from 2 to 40');
  expect(['2', '40', '007'].map(parse)).toEqual([2, 40, 7]);
  for (const text of ['1', '41', '-3', '3.0', '0x7', '1e1', '', ' 3'])
    expect([text, parse(text)]).toEqual([text, undefined]);
});

test('each setting says by which name it is set, and no two have the same', () => {
  const names = [...Object.values(settings), ...Object.values(retiredSettings)].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('a setting that is retired still has its own effect, within its bounds', () => {
  const given: [name: string, value: string, read: object][] = [
    ['SIMPLANE_HEADERS_TIMEOUT', '2s', { headersTimeoutMs: 2_000 }],
    ['SIMPLANE_REQUEST_TIMEOUT', '3s', { requestTimeoutMs: 3_000 }],
    ['SIMPLANE_DRAIN_TIMEOUT', '4s', { drainTimeoutMs: 4_000 }],
    ['SIMPLANE_UNKNOWN_KEY_LIMIT', '0', { unknownKeysPerSecond: 0 }],
    ['SIMPLANE_FEED_STREAMS_PER_KEY', '1', { streamsPerKey: 1 }],
    ['SIMPLANE_FEED_STREAMS', '1', { streamsTotal: 1 }],
    ['SIMPLANE_NETWORK_PAUSE_AFTER', '0', { networkPauseAfter: 0 }],
    ['SIMPLANE_NETWORK_PAUSE', '5s', { networkPauseMs: 5_000 }],
    ['SIMPLANE_WEBHOOK_CONCURRENCY', '2', { webhookConcurrency: 2 }],
  ];
  expect(given.map(([name]) => name)).toEqual(Object.values(retiredSettings).map(({ name }) => name));
  for (const [name, value, read] of given) expect(readConfig({ [name]: value }).config.retired).toEqual(read);
  for (const [name, value] of [
    ['SIMPLANE_FEED_STREAMS_PER_KEY', '0'],
    ['SIMPLANE_FEED_STREAMS', '0'],
    ['SIMPLANE_WEBHOOK_CONCURRENCY', '1'],
    ['SIMPLANE_HEADERS_TIMEOUT', '0s'],
  ] as const)
    expect(() => readConfig({ [name]: value })).toThrow(`${name} takes`);
});
