import { defineConfig } from 'vitest/config';
import { findBrowser } from './server/test/support/browser.ts';

const browserTests = '**/*.browser.test.ts';
const hasBrowser = findBrowser() !== null;
if (!hasBrowser) {
  // npm carries a Chromium for linux-x64 only; elsewhere the system's is used, and .ci/run installs one.
  console.warn('No Chromium was found, so the browser tests are left out: install chromium to run them.');
}

export default defineConfig({
  test: {
    include: ['*/src/**/*.test.ts', '*/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(hasBrowser ? [] : [browserTests])],
    globalSetup: ['server/test/support/global-setup.ts'],
    // Whole processes start, die and recover in these tests; the bound is for a hang, not for speed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // As many as keep two cores busy while others wait for a process to start or a time to pass.
    maxWorkers: 3,
    // No test changes a module, so files can share what was loaded: half of the time went into loading it again.
    isolate: false,
    pool: 'forks',
  },
});
