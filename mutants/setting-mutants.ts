import type { Mutant } from './mutant.ts';

const values = 'server/src/config/values.ts';
const reading = 'server/src/config/read-config.ts';
const contradictions = 'server/src/config/contradictions.ts';
const policy = 'server/src/config/address-policy.ts';
const tests = ['server/src/config/values.test.ts'];
const policyTests = ['server/src/config/address-policy.test.ts'];

/** What a setting may be, what its error repeats, and what follows from it if it is not given. */
export const settingMutants: Mutant[] = [
  {
    name: 'setting-below-its-minimum',
    file: values,
    find: 'value >= minimum && value <= maximum ? value',
    replace: 'value <= maximum ? value',
    tests,
    why: 'No process starts with 0 slots for orders, and runs none of them.',
  },
  {
    name: 'timeout-longer-than-a-timer',
    file: values,
    find: 'ms >= 1 && ms <= maxTimerMs ? ms',
    replace: 'ms >= 1 ? ms',
    tests,
    why: 'A long timeout is refused, because Node would end it at once.',
  },
  {
    name: 'timeout-of-nothing',
    file: values,
    find: 'ms >= 1 && ms <= maxTimerMs ? ms',
    replace: 'ms <= maxTimerMs ? ms',
    tests,
    why: 'A timeout is not over before it began.',
  },
  {
    name: 'duration-with-any-end',
    file: values,
    find: '(ms|s|m|h|d)$/',
    replace: '(ms|s|m|h|d)/',
    tests,
    why: 'A duration in a unit that is not known is refused: `2months` is not taken for two minutes.',
  },
  {
    name: 'one-network-of-a-list-checked',
    file: values,
    find: 'given.every((cidr) => parseCidr',
    replace: 'given.some((cidr) => parseCidr',
    tests,
    why: 'Each trusted proxy and each allowed network is one.',
  },
  {
    name: 'one-pause-of-a-schedule-checked',
    file: values,
    find: 'values.every((value) => value !== undefined) ? (values',
    replace: 'values.some((value) => value !== undefined) ? (values',
    tests,
    why: 'Each pause of a schedule is a duration.',
  },
  {
    name: 'status-500-counts-as-undone',
    file: values,
    find: '/^50[234]$/',
    replace: '/^50\\d$/',
    tests,
    why: 'An order is sent again only after a status that a gateway sends, never after one of the SM-DP+ itself.',
  },
  {
    name: 'password-in-the-address-of-the-smdp',
    file: 'server/src/config/order-settings.ts',
    find: '[^\\s/?#@]+',
    replace: '[^\\s/?#]+',
    tests,
    why: 'The address of the SM-DP+, which is shown, has no password in it.',
  },
  ...['SIMPLANE_API_KEY', 'DATABASE_URL', 'SIMPLANE_DATABASE_DIRECT_URL', 'SIMPLANE_ENCRYPTION_KEYS'].map(
    (setting) => ({
      name: `error-repeats-${setting.toLowerCase().replaceAll('_', '-')}`,
      file: reading,
      find: `  '${setting}',\n`,
      replace: '',
      tests,
      why: `The error for a mistyped ${setting} does not print the secret.`,
    }),
  ),
  {
    name: 'slowest-order-takes-the-whole-timeout',
    file: contradictions,
    find: 'slowFactor >= config.networkTimeoutMs',
    replace: 'slowFactor > config.networkTimeoutMs',
    tests,
    why: 'In the sandbox no product takes as long as the network timeout.',
  },
  {
    name: 'smdp-without-a-key',
    file: contradictions,
    find: "['es2Cert', 'es2Key', 'es2RequesterId']",
    replace: "['es2Cert', 'es2RequesterId']",
    tests,
    why: 'A worker says at its start that it has no key for the SM-DP+, not at its first order.',
  },
  {
    name: 'smdp-without-a-requester',
    file: contradictions,
    find: "['es2Cert', 'es2Key', 'es2RequesterId']",
    replace: "['es2Cert', 'es2Key']",
    tests,
    why: 'A worker says at its start that the SM-DP+ does not know who asks.',
  },
  {
    name: 'live-requests-all-kept',
    file: reading,
    find: "values.mode === 'live' ? 'errors' : 'all'",
    replace: "'all'",
    tests,
    why: 'In live mode only failed requests are stored, unless the operator wants more.',
  },
  {
    name: 'live-keys-without-a-limit',
    file: reading,
    find: "values.mode === 'live' ? 100 : 0",
    replace: '0',
    tests,
    why: 'In live mode a key has a rate limit, unless the operator turns it off.',
  },
  {
    name: 'hosted-sandbox-reaches-private-networks',
    file: policy,
    find: "mode === 'sandbox' && isLocal && webhookAllowCidrs === null",
    replace: "mode === 'sandbox' && webhookAllowCidrs === null && host !== ''",
    tests: policyTests,
    why: 'The accounts of a sandbox that others reach cannot read what is behind its firewall.',
  },
  {
    name: 'named-networks-are-not-all',
    file: policy,
    find: 'isLocal && webhookAllowCidrs === null',
    replace: 'isLocal',
    tests: policyTests,
    why: 'A sandbox behind a proxy on its own machine is closed by SIMPLANE_WEBHOOK_ALLOW_CIDRS.',
  },
];
