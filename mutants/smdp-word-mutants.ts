import { live, type Mutant } from './mutant.ts';

const es2 = 'server/src/network/es2plus';
const network = `${es2}/es2-network.ts`;
const outcomes = `${es2}/outcomes.ts`;
const refusal = `${es2}/explain-refusal.ts`;
const listener = `${es2}/listener.ts`;
const peerState = 'server/src/network/peer-state.ts';
const logged = 'The operator’s log has each call that failed, with its id, the cause and what to do.';
const bounded = 'A connection to the port for notifications can neither stay for ever nor send any amount.';

/** Mutants of what the operator learns of an SM-DP+, and of the bounds of its connections. */
export const smdpWordMutants: Mutant[] = [
  ...Object.entries({
    'unanswered-call-not-logged':
      '    onTrouble({ ...publicPart(about), why, error, remedy: describeRemedy(why), sent: !isUnsent });\n',
    'status-of-a-failed-call-not-logged':
      '    onTrouble({ ...publicPart(about), status: posted.status, remedy: describeRemedy(posted) });\n',
    'refusal-of-a-call-not-logged': '  onTrouble({ ...publicPart(about), ...reason.upstream });\n',
    'unreadable-answer-not-logged':
      '    onTrouble({ ...publicPart(about), unreadable: answer.why, ...reason.upstream });\n',
    'other-iccid-not-logged':
      "    onTrouble({ ...publicPart(about), unreadable: 'another ICCID than the one ordered', iccid });\n",
    'wrong-check-digit-not-logged': '    onTrouble({ ...publicPart(about), unreadable, iccid });\n',
  }).map(
    ([name, find]): Mutant => ({
      ...{ name, file: network, find, replace: '    void onTrouble;\n' },
      ...{ tests: [`${es2}/es2-network.test.ts`], why: logged },
    }),
  ),
  {
    name: 'unauthorized-call-not-explained',
    file: outcomes,
    find: 'if (status === 401 || status === 403) {',
    replace: 'if (status === 403) {',
    tests: [`${es2}/outcomes.test.ts`],
    why: 'After 401 the operator learns that the SM-DP+ has to allow our certificate.',
  },
  {
    name: 'wrong-address-of-the-smdp-not-explained',
    file: outcomes,
    find: '  if (status !== 404) return null;\n',
    replace: '  if (status >= 500) return null;\n',
    tests: [`${es2}/outcomes.test.ts`],
    why: 'Only a 404 says that the address is wrong.',
  },
  {
    name: 'redirect-of-the-smdp-not-explained',
    file: outcomes,
    find: 'if (status >= 300 && status < 400) {',
    replace: 'if (status > 300 && status < 400) {',
    tests: [`${es2}/outcomes.test.ts`],
    why: 'Of any redirect the operator learns that it is never followed.',
  },
  {
    name: 'setting-of-the-operator-shown-to-an-account',
    file: outcomes,
    find: 'const { says, remedy } = troubles[failure.why];',
    replace: 'const { remedy, says = remedyAfter(remedy) } = { ...troubles[failure.why], says: undefined };',
    tests: [`${es2}/outcomes.test.ts`],
    why: 'The account that ordered learns neither the host nor a setting.',
  },
  {
    name: 'rounded-iccid-quoted-as-exact',
    file: outcomes,
    find: "  if (typeof sent === 'number') return",
    replace: "  if (typeof sent === 'bigint') return",
    tests: [`${es2}/outcomes.test.ts`],
    why: 'An ICCID that was sent as a number is quoted as rounded, so that the operator does not look up another one.',
  },
  {
    name: 'client-with-an-early-certificate-not-explained',
    file: refusal,
    find: "  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';\n",
    replace: '',
    tests: [`${es2}/explain-refusal.test.ts`],
    why: 'The log says why a client was turned away.',
  },
  {
    name: 'client-with-old-tls-not-explained',
    file: refusal,
    find: '/NO_SHARED_CIPHER|UNSUPPORTED_PROTOCOL|',
    replace: '/NO_SHARED_CIPHER|',
    tests: [`${es2}/explain-refusal.test.ts`],
    why: 'The log says that a client offers only versions of TLS that are too old.',
  },
  {
    name: 'name-of-a-client-of-any-length-logged',
    file: refusal,
    find: 'subject: clip(nameOf(subject), 200)',
    replace: 'subject: nameOf(subject)',
    tests: [`${es2}/explain-refusal.test.ts`],
    why: 'What the log quotes of a client’s certificate is bounded: anyone can connect.',
  },
  ...['maxHeaderSize: 16 * 1024', 'headersTimeout: 10_000', 'handshakeTimeout: 10_000'].map(
    (bound): Mutant => ({
      name: `notifications-without-${bound.split(':', 1)[0]}`,
      file: listener,
      find: `          ${bound},\n`,
      replace: '',
      tests: [`${es2}/listener.test.ts`],
      why: bounded,
    }),
  ),
  {
    name: 'untrusted-client-reported-and-served',
    file: listener,
    find: "        options.onEvent('turned_away', refusal);\n        socket.destroy();\n",
    replace: "        options.onEvent('turned_away', refusal);\n",
    tests: [live('notifications')],
    why: 'A client that is turned away gets no answer: its connection is closed before a request on it is read.',
  },
  {
    name: 'damaged-certificate-not-named',
    file: `${es2}/certificates.ts`,
    find: "throw fileError(file, 'the certificate cannot be parsed');",
    replace: "throw new Error('the certificate cannot be parsed');",
    tests: [live('certificates')],
    why: 'A certificate that cannot be read is reported with its setting and its path.',
  },
  {
    name: 'gateway-that-answers-again-still-counts-as-down',
    file: peerState,
    find: '      tried(true);\n      downUntilMs = 0;',
    replace: '      tried(true);',
    tests: ['server/src/network/peer-state.test.ts'],
    why: 'After an answer, a connection shows again that a system works.',
  },
  {
    name: 'good-answer-forgets-the-last-error',
    file: peerState,
    find: 'if (problem !== null) noteError(problem);',
    replace: "noteError(problem ?? '');",
    tests: ['server/src/network/peer-state.test.ts'],
    why: 'The last error of a system is shown until there is another one.',
  },
  {
    name: 'handshake-check-takes-the-brackets-for-the-name',
    file: 'server/src/network/shake-hands.ts',
    find: "hostname.replace(/^\\[|\\]$/g, '')",
    replace: 'hostname',
    tests: ['server/src/network/shake-hands.test.ts'],
    why: 'An SM-DP+ at an IPv6 address is examined as one at a name is.',
  },
  {
    name: 'handshake-check-keeps-its-process',
    file: 'server/src/network/shake-hands.ts',
    find: '    clearTimeout(timer);\n',
    replace: '',
    tests: ['server/src/network/shake-hands.test.ts'],
    why: 'A command that has examined the SM-DP+ ends, without waiting for the time limit.',
  },
];
