import type { Mutant } from './mutant.ts';

const unit = (name: string) => [`server/src/platform/${name}.test.ts`];

/** What is sealed, and by whom: guards that tests beside the code notice. */
export const oldFormMutants: Mutant[] = [
  {
    name: 'old-form-allowed-if-nothing-is-known',
    file: 'server/src/platform/secrets/old-form.ts',
    find: 'state === null || state',
    replace: 'state !== null && state',
    tests: unit('secrets/old-form'),
    why: 'Without a record, the old form is refused.',
  },
  {
    name: 'refusal-of-the-old-form-asked-again',
    file: 'server/src/platform/secrets/old-form.ts',
    find: `    if (!isRefused) {\n`,
    replace: `    if (!isRefused || db) {\n`,
    tests: unit('secrets/old-form'),
    why: 'Once the old form is refused, it stays so.',
  },
  {
    name: 'allowance-of-the-old-form-remembered',
    file: 'server/src/platform/secrets/old-form.ts',
    find: `      isRefused = state === null || state.old_form_refused_at !== null;\n    }\n    return isRefused;`,
    replace: `      isRefused = true;\n      return state === null || state.old_form_refused_at !== null;\n    }\n    return isRefused;`,
    tests: unit('secrets/old-form'),
    why: 'A running process asks each time whether the old form is allowed.',
  },
  {
    name: 'refused-seal-without-retry-after',
    file: 'server/src/platform/secrets/claim-sealing-key.ts',
    find: `          headers: { 'Retry-After': '1' },\n`,
    replace: '',
    tests: unit('secrets/claim-sealing-key'),
    why: 'A client is asked to try again when secrets cannot be stored.',
  },
  {
    name: 'missing-key-told-to-the-client',
    file: 'server/src/platform/secrets/claim-sealing-key.ts',
    find: `'Secrets cannot be stored at the moment; retry shortly. If it persists, tell the operator.'`,
    replace: 'describeMissingKeys(missingKeys)',
    tests: unit('secrets/claim-sealing-key'),
    why: 'A client does not learn which key is missing.',
  },
  {
    name: 'process-without-a-key-opens-nothing',
    file: 'server/src/platform/secrets/claim-sealing-key.ts',
    find: `    ...keyring,\n    seal() {`,
    replace: `    ...keyring,\n    open: () => Promise.reject(new Error('no key')),\n    seal() {`,
    tests: unit('secrets/claim-sealing-key'),
    why: 'A process without a key opens what it can.',
  },
];
