import { api, type Mutant } from './mutant.ts';

/** Labels of cells: where they are, and what they decide. */
export const cellMutants: Mutant[] = [
  {
    name: 'key-refused-by-its-label',
    file: 'server/src/http/authenticate.ts',
    find: `if (!known) {
    requireOwnCell(service.cell, cellOfKey(key), 'This API key');`,
    replace: `requireOwnCell(service.cell, cellOfKey(key), 'This API key');
  if (!known) {`,
    tests: [api('cells')],
    why: 'A key that came along with its account works, whatever its label.',
  },
  {
    name: 'key-of-another-cell-called-wrong',
    file: 'server/src/http/authenticate.ts',
    find: `requireOwnCell(service.cell, cellOfKey(key), 'This API key');`,
    replace: '',
    tests: [api('cells')],
    why: 'Nobody replaces a key that is right because a router sent it to the wrong cell.',
  },
  {
    name: 'label-without-its-checksum',
    file: 'server/src/accounts/api-key-text.ts',
    find: 'return hasValidChecksum(key) ? (ownForm',
    replace: 'return key ? (ownForm',
    tests: [api('cells')],
    why: 'A mistyped key is a wrong key, and not one of another cell.',
  },
  {
    name: 'unknown-key-of-the-own-cell-sent-on',
    file: 'server/src/platform/cell.ts',
    find: 'if (label === null || label === own) return;',
    replace: 'if (label === null) return;',
    tests: [api('cells')],
    why: 'A revoked or made-up key of this cell is refused here.',
  },
  {
    name: 'new-key-without-its-label',
    file: 'server/src/accounts/issue-key.ts',
    find: 'generateApiKey(issuer.mode, issuer.cell)',
    replace: 'generateApiKey(issuer.mode)',
    tests: [api('cells')],
    why: 'A router finds the cell of every key that was created in one.',
  },
  {
    name: 'token-without-its-label',
    file: 'server/src/accounts/sessions/token.ts',
    find: 'withLabel(cell, randomBytes',
    replace: 'withLabel(cell && null, randomBytes',
    tests: [api('cells')],
    why: 'A router finds the cell of a session and of a link.',
  },
  {
    name: 'session-of-another-cell-ended',
    file: 'server/src/http/dashboard/authenticate-session.ts',
    find: `requireOwnCell(service.cell, labelOf(token), 'This session');`,
    replace: '',
    tests: [api('cells')],
    why: 'A session in another cell has not ended.',
  },
  {
    name: 'sign-in-link-of-another-cell-spent',
    file: 'server/src/http/dashboard/serve-sessions.ts',
    find: `requireOwnCell(service.cell, labelOf(link), 'This link');`,
    replace: '',
    tests: [api('cells')],
    why: 'A sign-in link of another cell was not used.',
  },
  {
    name: 'install-link-of-another-cell-ended',
    file: 'server/src/http/install/serve-install-pages.ts',
    find: `requireOwnCell(service.cell, labelOf(token), 'This install link');`,
    replace: '',
    tests: [api('cells')],
    why: 'An end user is not told that a link has ended which works.',
  },
  {
    name: 'label-with-a-tail',
    file: 'server/src/platform/cell.ts',
    find: `\`^\${labelForm}$\``,
    replace: `\`^\${labelForm}\``,
    tests: ['server/src/config/values.test.ts'],
    why: 'A router finds no label that has more than letters.',
  },
  {
    name: 'session-of-another-cell-shuts-out',
    file: 'dashboard/src/session.ts',
    find: ' || response?.status === 421',
    replace: '',
    tests: ['dashboard/test/screens.browser.test.ts'],
    why: 'Whoever has a session of the old cell can sign in again after a move.',
  },
  ...[
    ['server/src/notify/feed/cursor.ts', 'withLabel(cell, bytes', 'withLabel(cell && null, bytes'],
    ['server/src/notify/feed/cursor.ts', 'withoutLabel(given)', 'given'],
    ['server/src/platform/lists/cursor.ts', 'next_cursor: withLabel(cell, cursor)', 'next_cursor: cursor'],
    ['server/src/platform/lists/cursor.ts', 'withoutLabel(given)', 'given'],
  ].map(
    ([file = '', find = '', replace = ''], index): Mutant => ({
      ...{ name: `cursor-without-its-label-${index + 1}`, file, find, replace, tests: [api('cells')] },
      why: 'A cursor has the label of the cell that gave it out, and works in any that has the account.',
    }),
  ),
];
