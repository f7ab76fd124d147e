import { api, live, type Mutant, webhooks } from './mutant.ts';

const profileFailures = 'server/src/network/es2plus/profile-failures.ts';
const listener = 'server/src/network/es2plus/listener.ts';
const fields = 'server/src/network/es2plus/fields.ts';
const startExecutions = 'server/src/background/start-executions.ts';
const startWebhooks = 'server/src/background/start-webhooks.ts';
const startWork = 'server/src/background/start-work.ts';
const es2NetworkTest = 'server/src/network/es2plus/es2-network.test.ts';
const network = (name: string) => `server/test/network/${name}.test.ts`;

/** What networks answer and how they are called, and what workers count and stop. */
export const networkBackgroundMutants: readonly Mutant[] = [
  // Network.
  {
    name: 'wrong-confirmation-code-without-codes-not-explained',
    file: profileFailures,
    find: '{ 1: notEligible, 2: wrongCode }',
    replace: '{ 1: notEligible }',
    tests: ['server/src/network/es2plus/profile-failures.test.ts'],
    why: 'A failure at the standard’s point 2 tells that the confirmation code was wrong, also without known codes.',
  },
  {
    name: 'esim-of-another-device-not-explained',
    file: profileFailures,
    find: `code: 'device_refused',`,
    replace: `code: 'other',`,
    tests: ['server/src/network/es2plus/profile-failures.test.ts'],
    why: 'A program can tell that an eSIM was installed on another device than the one that it was ordered for.',
  },
  {
    name: 'notification-sent-for-ever',
    file: listener,
    find: 'requestTimeout: 15_000,',
    replace: 'requestTimeout: 0,',
    tests: ['server/src/network/es2plus/listener.test.ts'],
    why: 'A client that sends a notification byte by byte is cut off, and does not hold its connection for ever.',
  },
  {
    name: 'listener-ends-the-process-without-descriptors',
    file: listener,
    find: `server.on('error', ({ code, message }`,
    replace: `server.once('error', ({ code, message }`,
    tests: [live('notifications')],
    why: 'Connections that cannot be accepted are reported each time, and never end the process.',
  },
  {
    name: 'handshake-check-without-a-server-name',
    file: 'server/src/network/shake-hands.ts',
    find: '...(!isIP(host) && { servername: host }),',
    replace: '...(isIP(host) < 0 && { servername: host }),',
    tests: ['server/src/network/shake-hands.test.ts'],
    why: 'The check of a system names the host (SNI), without which a shared gateway shows another’s certificate.',
  },
  {
    name: 'smdp-address-with-the-dot-of-the-root-refused',
    file: fields,
    find: `typeof value === 'string' ? value.replace(/\\.$/, '') : value; // the root's dot`,
    replace: 'value;',
    tests: [es2NetworkTest],
    why: 'An SM-DP+ that writes its address with the root’s dot can be ordered from.',
  },
  {
    name: 'lower-case-padding-kept-in-the-iccid',
    file: fields,
    find: `value.replace(/F+$/i, '')`,
    replace: `value.replace(/F+$/, '')`,
    tests: [es2NetworkTest],
    why: 'An ICCID is the same one whether its padding is written as F or as f.',
  },
  {
    name: 'stop-waits-for-calls-with-old-certificates',
    file: 'server/src/network/es2plus/renewable-client.ts',
    find: 'await Promise.all([...generations].map(({ client }) => client.close()));',
    replace: 'await current.client.close();',
    tests: ['server/src/network/es2plus/renewable-client.test.ts'],
    why: 'A stop also ends the calls that began before the certificates were replaced.',
  },
  {
    name: 'sandbox-sells-every-top-up',
    file: 'server/src/network/mock/mock-network.ts',
    find: `return (await sell(productId, attempt, signal)) ?? { kind: 'done', result: {} };`,
    replace: `return (await sell(productId && '', attempt, signal)) ?? { kind: 'done', result: {} };`,
    tests: [network('mock')],
    why: 'A top-up with a misbehaving product of the sandbox fails as an order of it does, so that it can be tested.',
  },
  {
    name: 'smdp-under-a-path-with-a-slash-not-found',
    file: 'server/src/network/es2plus/client.ts',
    find: `const prefix = pathname.replace(/\\/$/, '');`,
    replace: `const prefix = pathname === '/' ? '' : pathname;`,
    tests: [network('es2plus')],
    why: 'SIMPLANE_ES2_URL may have a path that ends with a slash.',
  },

  // Background.
  {
    name: 'lost-request-log-lines-counted-by-batch',
    file: 'server/src/background/create-service.ts',
    find: 'onDropped: (count) => metrics.requestLogDropped.inc(count),',
    replace: 'onDropped: () => metrics.requestLogDropped.inc(),',
    tests: ['server/test/process/monitoring.test.ts'],
    why: 'The metric of dropped lines of the request log counts every line that was lost.',
  },
  {
    name: 'termination-that-the-core-refused-counts-as-done',
    file: 'server/src/background/start-core.ts',
    find: 'onOutcome: outcomeCounter(service),',
    replace: `onOutcome: (type) => outcomeCounter(service)(type, 'succeeded'),`,
    tests: [live('core-state')],
    why: 'The metrics count a termination that the core refused as failed.',
  },
  {
    name: 'work-that-starts-again-shown-as-paused',
    file: startExecutions,
    find: '  service.metrics.networkPaused.set(0); // it may have been stopped in a pause\n',
    replace: '',
    tests: [api('metrics')],
    why: 'A worker that was stopped in a pause of the network, and starts again, is not reported as paused.',
  },
  {
    name: 'failed-executions-missing-in-the-rates',
    file: startExecutions,
    find: `if (outcome !== 'postponed') metrics`,
    replace: `if (outcome === 'succeeded') metrics`,
    tests: [api('metrics')],
    why: 'The operator’s overview shows how many executions failed in the last minutes.',
  },
  {
    name: 'failed-attempts-missing-in-the-rates',
    file: startWebhooks,
    find: `count(outcome === 'succeeded' ? 'attempts_succeeded' : 'attempts_failed')`,
    replace: `count('attempts_succeeded')`,
    tests: [api('metrics')],
    why: 'The operator’s overview shows how many webhook attempts failed in the last minutes.',
  },
  {
    name: 'attempts-that-are-repeated-count-as-successes',
    file: startWebhooks,
    find: `isSuccess: outcome === 'succeeded'`,
    replace: `isSuccess: outcome !== 'failed'`,
    tests: [webhooks('ended-work')],
    why: 'The statistics of an endpoint count every attempt that failed, also one that is made again.',
  },
  {
    name: 'stopped-worker-warns-of-its-lost-beat',
    file: startWork,
    find: '      beat.stop();\n',
    replace: '',
    tests: [webhooks('ended-work')],
    why: 'A worker that was stopped, for example as its clock is wrong, does not warn that its beat is missing.',
  },
  {
    name: 'start-fails-over-claims-of-an-earlier-process',
    file: startWork,
    find: `'claims of an earlier process were not released');\n`,
    replace: `'claims of an earlier process were not released');\n    throw error;\n`,
    tests: [webhooks('ended-work')],
    why: 'A process starts although it could not release the claims of an earlier one, whose leases expire anyway.',
  },
  {
    name: 'stop-does-not-wait-for-a-chore',
    file: 'server/src/background/chores.ts',
    find: '      await Promise.all(watched.map((one) => one.stop()));\n',
    replace: '',
    tests: [api('chores')],
    why: 'A worker has stopped only when the chore that runs has ended, and begins no other run.',
  },
  {
    name: 'pause-of-the-core-shown-as-that-of-the-network',
    file: 'server/src/background/report-of.ts',
    find: `isPaused(peer.kind === 'core' ? 'core' : 'network')`,
    replace: `isPaused('network')`,
    tests: ['server/src/background/report-of.test.ts'],
    why: 'The operator sees which system is paused: the core, or the network that provisions.',
  },
];
