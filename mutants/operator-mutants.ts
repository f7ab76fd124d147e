import { api, type Mutant } from './mutant.ts';

const tests = [api('operator-desk')];
const admit = 'server/src/http/admit.ts';

/** What an operator's key may do in an account. */
export const operatorMutants: Mutant[] = [
  {
    name: 'every-operator-writes',
    file: admit,
    find: 'if (!operation || (isWrite(operation) && !mayWrite(request))) throw readOnly();',
    replace: 'if (!operation || (isWrite(operation) && !mayWrite(request) && false)) throw readOnly();',
    tests,
    why: 'An operator’s key writes for an account only with the scope for it.',
  },
  {
    name: 'operator-writes-for-suspended',
    file: admit,
    find: 'requireOpen(account, operation);\n      return;',
    replace: 'return;',
    tests,
    why: 'Nobody orders for a suspended account.',
  },
  {
    name: 'operator-manages-keys-as-account',
    file: admit,
    find: '      throw keysOfAccount();\n',
    replace: '      void keysOfAccount;\n',
    tests,
    why: 'An operator’s key makes no key of an account beside the operations for that.',
  },
];
