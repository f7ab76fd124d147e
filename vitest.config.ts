import { defineConfig } from 'vitest/config';
import { findBrowser } from './server/test/support/browser.ts';

const browserTests = '**/*.browser.test.ts';
const hasBrowser = findBrowser() !== null;
if (!hasBrowser) {
  // The npm package has a Chromium for linux-x64 only. Elsewhere the system's is used; .ci/run installs one.
  console.warn('No Chromium found, so browser tests are skipped: install chromium to run them.');
}

export default defineConfig({
  test: {
    include: ['*/src/**/*.test.ts', '*/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(hasBrowser ? [] : [browserTests])],
    globalSetup: ['server/test/support/global-setup.ts'],
    // Some tests start, kill and restart whole processes; the timeout catches hangs, not slowness.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Three keep two cores busy: some tests only wait for a process or a timer.
    maxWorkers: 3,
    // No test changes a module, so test files share loaded modules; reloading took half of the time.
    isolate: false,
    pool: 'forks',
  },
});
