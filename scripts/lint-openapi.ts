/** Lints the committed OpenAPI document with Redocly's rules; every finding fails, warnings too. */
import { fileURLToPath } from 'node:url';
import { createConfig, formatProblems, getTotals, lint } from '@redocly/openapi-core';

const ref = fileURLToPath(new URL('../../contract/openapi.json', import.meta.url));
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // One relative server on purpose: the document describes the deployment that serves it.
    'no-server-example.com': 'error',
    'operation-4xx-response': 'error',
    'tag-description': 'off',
  },
});
const problems = await lint({ ref, config });
formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '' });
if (problems.length > 0) process.exit(1);
console.log('contract/openapi.json: no findings');
