import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findBrowser } from './server/test/support/browser.ts';
import { patienceMs } from './server/test/support/until.ts';

const browserTests = '**/*.browser.test.ts';
const hasBrowser = findBrowser() !== null;
if (!hasBrowser) {
  // The npm package has a Chromium for linux-x64 only. Elsewhere the system's is used; .ci/run installs one.
  console.warn('No Chromium found, so browser tests are skipped: install chromium to run them.');
}

// Started first, in this order: they take half a minute or more each, and at the end they would run alone on two cores.
const slow = [
  'faults/test/breaks',
  'server/test/faults/moved-accounts',
  'server/test/api/fuzz',
  'server/test/docs/',
  'faults/test/',
  'server/test/webhooks/sending',
  'server/test/faults/',
  'server/test/api/slow-clients',
  'server/test/process/start-and-stop',
  'server/test/embedded/',
  'server/test/api/docs-samples',
  'dashboard/test/states',
  'dashboard/test/screens',
  'dashboard/test/large',
  'dashboard/test/',
  'cli/test/commands',
  'server/test/process/',
  'server/test/live/provisioning',
  'server/test/api/fair-connections',
  'reference/test/page.browser',
  'sdk/test/package',
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Unit tests last, so that each worker changes the project once.
    const rank = ({ moduleId, project }: TestSpecification) => {
      const found = slow.findIndex((path) => moduleId.includes(`/${path}`));
      return found >= 0 ? found : project.name.startsWith('unit') ? slow.length + 1 : slow.length;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

const unitTests = ['*/src/**/*.test.ts', '*/test/**/*.unit.test.ts'];

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * Test files that replace modules get workers of their own. In a shared one, a file that ran before would have loaded the real module
 * already, or one that runs later would get the replaced one.
 */
const replacingTests = readdirSync(root)
  .flatMap((workspace) => [`${workspace}/src`, `${workspace}/test`])
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`),
  )
  .filter(
    (path) =>
      /(\/src\/.*|\.unit)\.test\.ts$/.test(path) &&
      readFileSync(join(root, path), 'utf8').includes('vi.mock('),
  );

/** The workspaces' sources instead of their builds. */
const sources = Object.fromEntries(
  ['contract/src/index.ts', 'reference/src/page.ts', 'sdk/src/index.ts', 'mcp/src/index.ts'].map((path) => [
    `@simplane/${path.split('/', 1)[0]}`,
    fileURLToPath(new URL(path, import.meta.url)),
  ]),
);

/**
 * Integration tests load the modules that `tsc` built before them. Each worker would otherwise transform a thousand modules again: one
 * file took 10.3 s of CPU instead of 7.2.
 */
const builtSources: Plugin = {
  name: 'built-sources',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (!/\/src\/.*\.ts$/.test(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    // The dashboard is built by Vite, as one file.
    if (!found || found.id.includes('/dashboard/src/')) return found;
    return { ...found, id: found.id.replace(/\/src\/(.*)\.ts$/, '/dist/$1.js') };
  },
};

export default defineConfig({
  test: {
    projects: [
      // Beside the code, or named so: they need neither a build nor a database, so that one file takes a second.
      {
        extends: true,
        resolve: { alias: sources },
        test: { name: 'unit', include: unitTests, exclude: ['**/node_modules/**', ...replacingTests] },
      },
      {
        extends: true,
        resolve: { alias: sources },
        test: { name: 'unit-alone', include: replacingTests, isolate: true },
      },
      {
        extends: true,
        plugins: [builtSources],
        test: {
          name: 'integration',
          server: { deps: { external: [/\/dist\//] } },
          include: ['*/test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...unitTests, ...(hasBrowser ? [] : [browserTests])],
          globalSetup: ['server/test/support/global-setup.ts'],
        },
      },
    ],
    // Some tests start, kill and restart whole processes; the timeout catches hangs, not slowness.
    testTimeout: patienceMs + 60_000,
    hookTimeout: patienceMs + 60_000,
    // So do the waits for a condition. Vitest's default of 1 s is too short for a busy machine.
    expect: { poll: { timeout: patienceMs } },
    // PostgreSQL's folder may be in memory, so it must be removed even if a busy machine needs more than the default of 10 s.
    teardownTimeout: 120_000,
    // Six keep two cores busy: many tests only wait for a process or a timer. Four left an eighth of them idle.
    maxWorkers: 6,
    // No test changes a module, so test files share loaded modules; reloading took half of the time.
    isolate: false,
    pool: 'forks',
    // Room for short-lived objects: V8's default of 16 MB is collected often, which took a seventh of the tests' CPU time.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=64'],
    sequence: { sequencer: SlowFirst },
    reporters: ['default', './server/test/support/slowest-files.ts'],
  },
});
