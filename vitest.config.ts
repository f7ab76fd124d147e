import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findBrowser } from './server/test/support/browser.ts';

const browserTests = '**/*.browser.test.ts';
const hasBrowser = findBrowser() !== null;
if (!hasBrowser) {
  // The npm package has a Chromium for linux-x64 only. Elsewhere the system's is used; .ci/run installs one.
  console.warn('No Chromium found, so browser tests are skipped: install chromium to run them.');
}

// Started first: they take a minute or two each, and at the end they would run alone on two cores.
const slow = ['faults/test/', 'server/test/docs/', 'server/test/process/start-and-stop'];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => slow.some((path) => moduleId.includes(`/${path}`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
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
    sequence: { sequencer: SlowFirst },
  },
});
