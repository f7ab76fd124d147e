import { integer, type Kind, timeout } from './values.ts';

/**
 * Settings of 0.2 that are now constants, because no operator had a reason to change them. This release still applies their values
 * and warns; the next one ignores them: remove this file, `Config.retired` and its use in create-service.ts.
 */
export const retiredSettings = {
  headersTimeoutMs: {
    name: 'SIMPLANE_HEADERS_TIMEOUT',
    kind: timeout,
    instead: 'headers must arrive within 10 s, and a proxy can allow less',
  },
  requestTimeoutMs: {
    name: 'SIMPLANE_REQUEST_TIMEOUT',
    kind: timeout,
    instead: 'a request must arrive within 30 s, and a proxy can allow less',
  },
  drainTimeoutMs: {
    name: 'SIMPLANE_DRAIN_TIMEOUT',
    kind: timeout,
    instead: 'a client that reads nothing for 20 s is cut off, and a proxy can buffer for slow ones',
  },
  unknownKeysPerSecond: {
    name: 'SIMPLANE_UNKNOWN_KEY_LIMIT',
    kind: integer(0, 1_000_000),
    instead: 'an address may send 20 unknown keys per second, and a proxy can allow less',
  },
  streamsPerKey: {
    name: 'SIMPLANE_FEED_STREAMS_PER_KEY',
    kind: integer(1, 1_000_000),
    instead: 'a key may have 20 streams in a process, and an account can have several keys',
  },
  streamsTotal: {
    name: 'SIMPLANE_FEED_STREAMS',
    kind: integer(1, 1_000_000),
    instead: 'a process serves 1,000 streams; start another one for more',
  },
  networkPauseAfter: {
    name: 'SIMPLANE_NETWORK_PAUSE_AFTER',
    kind: integer(0, 1_000),
    instead: 'the network is paused after five answers in a row with HTTP 502, 503 or 504',
  },
  networkPauseMs: {
    name: 'SIMPLANE_NETWORK_PAUSE',
    kind: timeout,
    instead: 'the first pause is 10 s, and each failure after it doubles the pause up to a minute',
  },
  webhookConcurrency: {
    name: 'SIMPLANE_WEBHOOK_CONCURRENCY',
    kind: integer(2, 10_000),
    instead: 'a process has up to 1,024 deliveries in flight; start another worker for more',
  },
} satisfies Record<string, { name: string; kind: Kind<number>; instead: string }>;

/** The values that were given. */
export type RetiredValues = { [K in keyof typeof retiredSettings]?: number };
