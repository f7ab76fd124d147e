import { defineConfig } from 'vitest/config';
import { unitTests } from './pure-cores.ts';

/** For Stryker: unit tests only, without a build and without a database. */
export default defineConfig({
  test: {
    include: [...unitTests],
    setupFiles: ['mutants/property-tests.ts'],
    testTimeout: 60_000,
  },
});
