import { api, type Mutant } from './mutant.ts';

const observedAt = 'server/src/orders/observations/observed-at.ts';
const hold = 'server/src/orders/executions/hold.ts';

/** Mutants of what orders and observations allow exactly, and no further. */
export const boundaryMutants: Mutant[] = [
  {
    name: 'time-five-minutes-ahead-refused',
    file: observedAt,
    find: '<= nowMs + maxAheadSeconds',
    replace: '< nowMs + maxAheadSeconds',
    tests: ['server/src/orders/observations/observed-at.test.ts'],
    why: 'A clock may be five minutes ahead, as the message of the refusal says.',
  },
  {
    name: 'usage-of-the-greatest-age-refused',
    file: observedAt,
    find: 'atSeconds * 1000 < clock.nowMs()',
    replace: 'atSeconds * 1000 <= clock.nowMs()',
    tests: ['server/src/orders/observations/observed-at.test.ts'],
    why: 'Usage that is exactly as old as usage may be still counts.',
  },
  {
    name: 'usage-in-the-second-of-a-termination-refused',
    file: 'server/src/orders/observations/take-usage.ts',
    find: 'at * 1000 <= esim.terminated_at',
    replace: 'at * 1000 < esim.terminated_at',
    tests: [api('charging')],
    why: 'Usage up to the termination is in the books.',
  },
  {
    name: 'install-link-works-at-its-end',
    file: 'server/src/orders/install-links/sql.ts',
    find: 'install_links.expires_at > used.at',
    replace: 'install_links.expires_at >= used.at',
    tests: [api('install-links')],
    why: 'An install link works until its end, and not at it.',
  },
  {
    name: 'matching-id-of-half-the-random-bits',
    file: 'server/src/orders/esims/activation-code.ts',
    find: 'random(20).entries()',
    replace: 'random(10).entries()',
    tests: ['server/src/orders/esims/activation-code.test.ts'],
    why: 'A matching id has 100 random bits: whoever guesses it can download the profile.',
  },
  {
    name: 'probe-of-a-lost-claim-kept',
    file: hold,
    find: '        permit?.release();\n',
    replace: '',
    tests: ['server/src/orders/executions/hold.test.ts'],
    why: 'A worker that lost its claim before the probe does not keep the network paused for ever.',
  },
  {
    name: 'order-that-may-have-been-sent-shown-as-unsent',
    file: hold,
    find: 'if (forgetsCalls && claimed.progress[flag] === undefined) noteProgress',
    replace: 'if (forgetsCalls) noteProgress',
    tests: ['server/src/orders/executions/hold.test.ts'],
    why: 'An order that an earlier attempt may have sent is not canceled as if it had never been sent.',
  },
  {
    name: 'orders-wait-for-a-poll-after-a-pause',
    file: 'server/src/orders/executions/worker.ts',
    find: '      queue.wake(); // what is due has changed\n',
    replace: '      void queue;\n',
    tests: ['server/src/orders/executions/worker.test.ts'],
    why: 'What waited is claimed at once when the network works again.',
  },
  {
    name: 'top-up-that-failed-for-good-runs-again',
    file: 'server/src/orders/bundles/run-top-up.ts',
    find: '  async fail(deps, execution, error) {\n    await execution.finish(deps.db, error);\n',
    replace: '  async fail(deps, execution, error) {\n    void [deps, execution, error];\n',
    tests: [api('decide-executions')],
    why: 'A top-up that the network fails until the last attempt fails.',
  },
  {
    name: 'failed-top-up-ends-without-a-retry',
    file: 'server/src/orders/bundles/run-top-up.ts',
    find: "return { kind: 'failed', reason: reply.reason };",
    replace: "return { kind: 'done' };",
    tests: [api('decide-executions')],
    why: 'A top-up that the network fails is tried again, or fails with the cause.',
  },
  {
    name: 'thresholds-of-a-top-up-in-the-order-given',
    file: 'server/src/orders/bundles/run-top-up.ts',
    find: '[...new Set(percents)].sort((a, b) => a - b)',
    replace: '[...new Set(percents)]',
    tests: [api('bundles')],
    why: 'A bundle has its thresholds in ascending order, as usage crosses them.',
  },
  {
    name: 'queued-executions-listed-under-an-error',
    file: 'server/src/orders/operator/list.ts',
    find: '      if (!mayMatch(filter)) return [];\n',
    replace: '      void mayMatch;\n',
    tests: [api('decide-executions')],
    why: 'An execution that has not failed has no error code, and is not found by one.',
  },
];
