import type { Mutant } from './mutant.ts';

/** Mutants of the operator’s commands: which account is meant, and which keys are refused. */
export const commandMutants: Mutant[] = [
  {
    name: 'first-of-several-accounts-chosen',
    file: 'server/src/commands/account-of.ts',
    find: 'if (only && accounts.length === 1) return',
    replace: 'if (only) return',
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A command without --account is refused if there are several.',
  },
  {
    name: 'closed-accounts-counted-as-a-choice',
    file: 'server/src/commands/account-of.ts',
    find: '(await listAccountRows(db)).filter(isOpen)',
    replace: 'await listAccountRows(db)',
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A command without --account does not count closed accounts.',
  },
  {
    name: 'list-on-the-command-line-has-a-page',
    file: 'server/src/commands/all-pages.ts',
    find: 'while (page.next_cursor !== undefined) {',
    replace: "while (page.next_cursor === '') {",
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A list on the command line has all pages.',
  },
  {
    name: 'operators-key-in-an-account',
    file: 'server/src/commands/keys.ts',
    find: "  if (account !== undefined)\n    throw new CommandError('a key with the operator scope",
    replace: "  if (account === '')\n    throw new CommandError('a key with the operator scope",
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A key with the operator scope belongs to no account, and the command says so.',
  },
  {
    name: 'operators-scope-beside-others',
    file: 'server/src/commands/keys.ts',
    find: 'if (ofOperator.length < chosen.length)',
    replace: 'if (ofOperator.length > chosen.length)',
    tests: ['server/src/commands/choices.test.ts'],
    why: 'The operator scope is not combined with those of an account.',
  },
  {
    name: 'key-that-has-expired-created',
    file: 'server/src/commands/keys.ts',
    find: '  if (!ms) throw new CommandError(`--expires-in takes a duration such as 12h',
    replace: '  if (ms === undefined) throw new CommandError(`--expires-in takes a duration such as 12h',
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A key that would have expired already is refused.',
  },
  {
    name: 'unknown-scope-given-to-a-key',
    file: 'server/src/commands/keys.ts',
    find: `if (unknown !== undefined)\n    throw new CommandError(\`"\${unknown}" is not a scope`,
    replace: `if (unknown === '')\n    throw new CommandError(\`"\${unknown}" is not a scope`,
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A scope that does not exist is refused.',
  },
  {
    name: 'malformed-networks-of-a-key-ignored',
    file: 'server/src/commands/keys.ts',
    find: 'if (given === undefined || given.length > maxAllowedCidrs)',
    replace: 'if (given === undefined) return [];\n  if (given.length > maxAllowedCidrs)',
    tests: ['server/src/commands/choices.test.ts'],
    why: 'A key is not created for all networks because those that were meant are mistyped.',
  },
];
