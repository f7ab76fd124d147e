/**
 * Runs test files on request, in the folder it is started in, with one Vitest: the bundles, PostgreSQL and the migrations are made once, not
 * for each mutant, which took most of 12 s. Its parent is test-process.ts.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { createVitest, type TestModule, type TestRunResult, type TestSpecification } from 'vitest/node';
import { importsOf } from './imports-of.ts';

/** Of test files, in a tree in which `changed` is not what it was. */
export type Request = { tests: readonly string[]; changed: string };
/** `failed` names a failed test; `error` says why no test failed, and yet they did not all pass. */
export type Answer = {
  failed: string | null;
  error: string | null;
  notPassed: string[];
  failedFiles: string[];
  seconds: Record<string, number>;
};

const root = process.cwd();
const boundOfEndMs = 15_000;
const vitest = await createVitest('test', { root, watch: false, bail: 1, reporters: [{}] });
let changedBefore = '';
let isEnding = false;

process.on('message', (request: Request | 'end') => {
  if (request === 'end') return void end();
  answer(request).then((sent) => process.send?.(sent), fail);
});
process.on('disconnect', () => void end());

async function answer({ tests, changed }: Request): Promise<Answer> {
  for (const file of new Set([changedBefore, changed])) vitest.invalidateFile(join(root, file));
  changedBefore = changed;
  const found = await vitest.globTestSpecifications([...tests]);
  const specs = found.filter(({ moduleId }) => tests.includes(relative(root, moduleId)));
  if (specs.length < tests.length) throw new Error(`of ${tests.join(', ')} only ${specs.length} are there`);
  await buildFor(tests, specs);
  return describe(specs, await vitest.runTestSpecifications(specs));
}

/** What the tests of these files start or open is not built by `tsc` alone. The first run's global setup builds it itself. */
async function buildFor(tests: readonly string[], specs: readonly TestSpecification[]): Promise<void> {
  const texts = new Map<string, string>();
  for (const test of tests) for (const [file, text] of await importsOf(root, test)) texts.set(file, text);
  const [spec] = specs.filter(({ project }) => project.name === 'integration');
  if (!spec) return;
  const { programs } = spec.project.getProvidedContext() as { programs?: string };
  if (programs === undefined) return;
  if ([...texts.values()].some((text) => /inject\('programs'\)|FAULTS_PROGRAMS|server\/bundle/.test(text))) {
    type Bundler = { bundlePrograms(folder: string): Promise<void> };
    const bundler = await vitest.import<Bundler>(join(root, 'server/test/support/bundle-programs.ts'));
    await bundler.bundlePrograms(programs);
    // V8 takes compiled code for any source of the same length.
    await rm(join(programs, 'servers.cjs.compiled'), { force: true });
    await promisify(execFile)(process.execPath, ['server/bundle.js'], { cwd: root });
  }
  // Does nothing unless the dashboard or the SDK has changed.
  if ([...texts.keys()].some((file) => file.startsWith('dashboard/')))
    await promisify(execFile)(process.execPath, ['dashboard/build.js'], { cwd: root });
}

function describe(specs: readonly TestSpecification[], result: TestRunResult): Answer {
  // The result also has the files of earlier runs.
  const ids = new Set(specs.map(({ moduleId }) => moduleId));
  const modules = result.testModules.filter(({ moduleId }) => ids.has(moduleId));
  const pathOf = ({ moduleId }: { moduleId: string }) => relative(root, moduleId);
  const [test] = modules.flatMap((module) => [...module.children.allTests('failed')]);
  // After a failure the others are skipped; else a file is, if nothing in it can run on this machine.
  const goodStates = test ? ['passed'] : ['passed', 'skipped'];
  const passed = new Set(modules.filter((module) => goodStates.includes(module.state())).map(pathOf));
  const notPassed = specs.map(pathOf).filter((path) => !passed.has(path));
  const errors = [...modules.flatMap((module) => module.errors()), ...result.unhandledErrors];
  const [error] = errors.map((one) => String((one as { message?: string }).message ?? one).slice(0, 300));
  return {
    failed: test?.fullName ?? null,
    error: error ?? (notPassed.length > 0 ? 'a file did not pass' : null),
    notPassed,
    failedFiles: modules.filter((module) => module.state() === 'failed').map(pathOf),
    seconds: Object.fromEntries(modules.map((module) => [pathOf(module), secondsOf(module)])),
  };
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return (collectDuration + setupDuration + duration) / 1_000;
}

/** A request that cannot be answered: the parent sees that the process ended. */
async function fail(error: unknown): Promise<void> {
  console.error(error);
  process.exitCode = 1;
  await end();
}

/** Removes the database and the bundles. A hanging test must not prevent the end. */
async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), boundOfEndMs);
  await vitest.close();
  process.kill(-process.pid, 'SIGKILL');
}
