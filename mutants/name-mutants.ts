import type { Mutant } from './mutant.ts';

/** Receivers’ names and addresses. */
export const nameMutants: Mutant[] = [
  {
    name: 'old-address-prolonged',
    file: 'server/src/notify/webhooks/names/names.ts',
    find: ': previous,',
    replace: ': previous && { ...previous, untilMs: nowMs + staleMs },',
    tests: ['server/src/notify/webhooks/names/names.test.ts'],
    why: 'The last addresses are used for ten minutes, however many refreshes fail.',
  },
  {
    name: 'names-of-hosts-file-case-sensitive',
    file: 'server/src/notify/webhooks/names/resolver-files.ts',
    find: 'name.toLowerCase().replace',
    replace: 'name.replace',
    tests: [
      'server/src/notify/webhooks/names/names.test.ts',
      'server/src/notify/webhooks/names/resolver-files.test.ts',
    ],
    why: 'A name of the hosts file is found however it is written.',
  },
  {
    name: 'private-address-behind-a-translator',
    file: 'server/src/notify/webhooks/guard/address-ranges.ts',
    find: '    .map(behindTranslator)\n',
    replace: '',
    tests: ['server/src/notify/webhooks/guard/address-ranges.test.ts'],
    why: 'A private address behind a translator is not private here.',
  },
  {
    name: 'busy-account-loses-its-agent',
    file: 'server/src/notify/webhooks/guard/account-agents.ts',
    find: 'agents.delete(accountUuid);\n      agents.set(',
    replace: 'agents.set(',
    tests: ['server/src/notify/webhooks/sender/attempt.test.ts'],
    why: 'The least recently used agent is closed, not the oldest.',
  },
  {
    name: 'hanging-handshake',
    file: 'server/src/notify/webhooks/guard/connector.ts',
    find: "signal.addEventListener('abort', () => socket.destroy(), { once: true });",
    replace: '',
    tests: ['server/src/notify/webhooks/guard/connector.test.ts'],
    why: 'A TLS handshake that hangs is closed.',
  },
];
