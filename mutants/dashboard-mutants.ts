import type { Mutant } from './mutant.ts';

const states = ['dashboard/test/states.browser.test.ts'];

/** What the page says of what it does not know, and what it saves for others. */
export const dashboardMutants: Mutant[] = [
  {
    name: 'failed-panel-seems-to-load',
    file: 'dashboard/src/parts/reading.tsx',
    find: '{error ? <Failed what={what} error={error} onRetry={retry} /> : <Loading what={what} />}',
    replace: '<Loading what={what} />',
    tests: states,
    why: 'A panel whose request failed says so.',
  },
  {
    name: 'old-figures-look-new',
    file: 'dashboard/src/parts/reading.tsx',
    find: 'return isStale ? dataUpdatedAt : null;',
    replace: 'return isStale ? null : null;',
    tests: states,
    why: 'What could not be read again has the time it is of.',
  },
  {
    name: 'exported-text-runs-as-formula',
    file: 'dashboard/src/parts/csv.ts',
    find: '/^[=+\\-@\\t\\r]/.test(cell)',
    replace: 'false',
    tests: ['dashboard/test/parts.unit.test.ts'],
    why: 'A spreadsheet must not run what a stranger wrote into metadata.',
  },
];
