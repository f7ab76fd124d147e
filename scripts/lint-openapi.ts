/** Lints the committed OpenAPI document with Redocly's rules; every finding fails, warnings too. */
import { fileURLToPath } from 'node:url';
import { createConfig, formatProblems, getTotals, lint } from '@redocly/openapi-core';

const ref = fileURLToPath(new URL('../../contract/openapi.json', import.meta.url));
const config = await createConfig({ extends: ['recommended-strict'] });
const problems = await lint({ ref, config });
formatProblems(problems, { format: 'codeframe', totals: getTotals(problems), version: '' });
if (problems.length > 0) process.exit(1);
console.log('contract/openapi.json: no findings');
