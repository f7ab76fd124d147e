import { applyMutant } from './apply-mutant.ts';
import { findBroken } from './find-broken.ts';
import { handWritten } from './hand-written.ts';
import { importsOf } from './imports-of.ts';
import type { Mutant } from './mutant.ts';
import { type TestProcess, testProcessOf } from './test-process.ts';
import { copyTree, type TreeCopy } from './tree-copy.ts';

/**
 * `stale`: `find` does not occur exactly once in the file. `broken`: it does not compile, so no test ran. `untested`: its tests do not pass
 * without it either, by now, so they prove nothing.
 */
type Verdict = 'killed' | 'survived' | 'stale' | 'broken' | 'untested';
export type Judged = { mutant: Mutant; verdict: Verdict; seconds: number; by: string };

type Lane = { tree: TreeCopy; tests: TestProcess };
/** How long each test file takes without a mutant. */
type Seconds = Record<string, number>;
/** `red`: files that do not pass without a mutant either. */
type Without = { seconds: Seconds; red: Set<string> };

// Tests of programs mostly wait: with two, two cores were idle nine tenths of the time while the slow ones ran.
const atOnce = 4;
const boundOfAllMs = 60 * 60_000;
const mostMs = 10 * 60_000;

const lanes: Lane[] = [];

/** Applies each mutant to a copy of the tree and runs the tests that must fail then. */
export async function runHandWritten(names: readonly string[], stopping: AbortSignal): Promise<Judged[]> {
  const wanted = handWritten.filter(({ name }) => names.length === 0 || names.includes(name));
  if (wanted.length === 0) return [];
  try {
    for (let count = 0; count < Math.min(atOnce, wanted.length); count++) lanes.push(await makeLane());
    const [first] = lanes as [Lane];
    const [broken, { seconds, red }] = await Promise.all([
      checkTypes(wanted, stopping),
      runWithout(first, [...new Set(wanted.flatMap(({ tests }) => tests))], stopping),
    ]);
    const judged = wanted.flatMap((mutant): Judged[] => {
      const [failing] = mutant.tests.filter((test) => red.has(test));
      if (broken.has(mutant.name))
        return [{ mutant, verdict: 'broken', seconds: 0, by: broken.get(mutant.name) ?? '' }];
      return failing === undefined ? [] : [{ mutant, verdict: 'untested', seconds: 0, by: failing }];
    });
    for (const [index, one] of judged.entries()) print(one, index + 1, wanted.length);
    const hasVerdict = new Set(judged.map(({ mutant }) => mutant));
    const setUpFiles = new Set(
      (await importsOf(process.cwd(), 'server/test/support/global-setup.ts')).keys(),
    );
    const needsOwn = ({ file }: Mutant) => setUpFiles.has(file) || !/^\w+\/src\/.*\.tsx?$/.test(file);
    // The slowest first, so that all lanes end at the same time.
    const cost = (mutant: Mutant) => (needsOwn(mutant) ? 60 : 0) + expected(mutant, seconds);
    const queue = wanted.filter((mutant) => !hasVerdict.has(mutant)).toSorted((a, b) => cost(b) - cost(a));
    await Promise.all(
      lanes.map(async (lane) => {
        for (let next = queue.shift(); next && !stopping.aborted; next = queue.shift()) {
          const one = await judge(lane, next, { needsOwn: needsOwn(next), seconds, stopping });
          if (stopping.aborted) return;
          judged.push(one);
          print(one, judged.length, wanted.length);
        }
      }),
    );
    return judged;
  } finally {
    await cleanUp();
  }
}

/** In a copy of its own, beside the tests. */
async function checkTypes(wanted: readonly Mutant[], stopping: AbortSignal): Promise<Map<string, string>> {
  console.log(`checking whether ${wanted.length} mutants compile`);
  const tree = await copyTree(process.cwd());
  try {
    return await findBroken(tree, wanted, stopping);
  } finally {
    await tree.remove();
  }
}

/** Stops running tests and removes the copies. */
export async function cleanUp(): Promise<void> {
  await Promise.all(
    lanes.map(async ({ tree, tests }) => {
      await tests.end();
      await tree.remove();
    }),
  );
}

async function makeLane(): Promise<Lane> {
  const tree = await copyTree(process.cwd());
  return { tree, tests: testProcessOf(tree) };
}

/** Tests that fail without a mutant would kill every mutant. On a busy machine a test may time out once; a file that fails twice is `red`. */
async function runWithout(lane: Lane, tests: readonly string[], stopping: AbortSignal): Promise<Without> {
  console.log(`running ${tests.length} test files without a mutant`);
  const seconds: Seconds = {};
  const failed: string[] = [];
  const red = new Set<string>();
  for (let left = [...tests]; left.length > 0 && !stopping.aborted; ) {
    const answer = await lane.tests.run({ tests: left, changed: '' }, boundOfAllMs);
    if (stopping.aborted) break;
    Object.assign(seconds, answer.seconds);
    const { failedFiles, error } = answer;
    if (failedFiles.length === 0 && error !== null) throw new Error(`the tests do not run: ${error}`);
    if (failedFiles.length > 0) console.log(`failed without a mutant: ${answer.failed} in ${failedFiles}`);
    for (const file of failedFiles) if (failed.includes(file)) red.add(file);
    failed.push(...failedFiles);
    left = answer.notPassed.filter((file) => !red.has(file));
  }
  return { seconds, red };
}

type How = {
  /** It changes what the global setup of the tests makes, so it needs a process of its own. */
  needsOwn: boolean;
  seconds: Seconds;
  stopping: AbortSignal;
};

async function judge(lane: Lane, mutant: Mutant, { needsOwn, seconds, stopping }: How): Promise<Judged> {
  const startedMs = performance.now();
  const end = (verdict: Verdict, by = ''): Judged => {
    return { mutant, verdict, seconds: (performance.now() - startedMs) / 1000, by };
  };
  const request = { tests: mutant.tests, changed: mutant.file };
  for (let boundMs = 30_000 + 5_000 * expected(mutant, seconds); !stopping.aborted; boundMs *= 4) {
    const undo = await applyMutant(lane.tree, mutant);
    if (!undo) return end('stale');
    if (needsOwn) await lane.tests.end();
    const { failed, error } = await lane.tests.run(request, boundMs);
    if (stopping.aborted) break;
    await undo();
    if (needsOwn || (error !== null && failed === null)) await lane.tests.end();
    if (error === null) return end('survived');
    if (failed !== null) return end('killed', failed);
    // No test failed, but they hung or could not run. That counts if they run without the mutant, so that a busy machine does not.
    const without = await lane.tests.run(request, boundMs);
    if (without.error === null) return end('killed', error.split('\n', 1)[0]);
    if (boundMs > mostMs) return end('untested', without.failed ?? without.error.split('\n', 1)[0]);
  }
  return end('survived');
}

function expected({ tests }: Mutant, seconds: Seconds): number {
  return tests.reduce((sum, test) => sum + (seconds[test] ?? 0), 0);
}

function print({ verdict, seconds, mutant, by }: Judged, count: number, all: number): void {
  console.log(
    `${verdict.padEnd(8)} ${`${count}/${all}`.padStart(9)} ${seconds.toFixed(1).padStart(6)} s  ${mutant.name}  ${by}`,
  );
}
