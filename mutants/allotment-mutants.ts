import type { Mutant } from './mutant.ts';

/** Mutants of what a worker does with an execution it holds: its calls, its waits, and the numbers it allots. */
export const allotmentMutants: Mutant[] = [
  {
    name: 'looking-again-at-the-core-counts',
    file: 'server/src/orders/executions/hold.ts',
    find: '...(claimed.attempts > 1 && { isUncounted: true }),',
    replace: '',
    tests: ['server/src/orders/executions/hold.test.ts'],
    why: 'Looking again whether the core has a change does not count as an attempt.',
  },
  {
    name: 'first-call-forgotten-after-a-repetition',
    file: 'server/src/orders/executions/hold.ts',
    find: 'if (forgetsCalls && !isRepeated && surelyHadNoEffect(reply))',
    replace: 'if (forgetsCalls && surelyHadNoEffect(reply))',
    tests: ['server/src/orders/executions/hold.test.ts'],
    why: 'A repetition without effect does not take back that the first call was made.',
  },
  {
    name: 'call-without-effect-counts-as-made',
    file: 'server/src/orders/executions/hold.ts',
    find: 'if (forgetsCalls && !isRepeated && surelyHadNoEffect(reply)) await setFlag(flag, false);\n',
    replace: '',
    tests: ['server/src/orders/executions/hold.test.ts'],
    why: 'A call that surely had no effect is not repeated as one that may have had one.',
  },
  {
    name: 'repetition-unknown-to-the-network',
    file: 'server/src/orders/executions/hold.ts',
    find: 'await setSent(flag) : wasClaimedBefore(claimed);',
    replace: 'await setSent(flag) : false;',
    tests: ['server/src/orders/executions/hold.test.ts'],
    why: 'A network that remembers calls is told that one may be a repetition.',
  },
  {
    name: 'probe-of-a-pause-unbounded',
    file: 'server/src/orders/executions/claim.ts',
    find: 'count: 1, since: null',
    replace: 'count, since: null',
    tests: ['server/src/orders/executions/claim.test.ts'],
    why: 'One execution is claimed for a probe.',
  },
  {
    name: 'iccid-twice-in-a-batch',
    file: 'server/src/orders/esims/allot.ts',
    find: 'iccid: iccids[index] ?? null',
    replace: 'iccid: iccids[0] ?? null',
    tests: ['server/src/orders/esims/allot.test.ts'],
    why: 'Each order gets a number of its own.',
  },
  {
    name: 'number-of-a-lost-order-lost',
    file: 'server/src/orders/esims/allot.ts',
    find: "    if (iccid !== null && !stored.has(id)) await iccidSource.giveBack?.(tx, iccid, 'free');\n",
    replace: '',
    tests: ['server/src/orders/esims/allot.test.ts'],
    why: 'The number of an order that another worker has claimed goes back.',
  },
];
