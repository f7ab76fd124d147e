import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { handWritten } from './hand-written.ts';
import type { Mutant } from './mutant.ts';
import { copyTree, replaceOnce, type TreeCopy } from './tree-copy.ts';

/** `stale`: `find` does not occur exactly once in the file. `broken`: it does not compile, so no test ran. */
type Verdict = 'killed' | 'survived' | 'stale' | 'broken';
export type Judged = { mutant: Mutant; verdict: Verdict; seconds: number; by: string };

const atOnce = 2;
// A mutant that makes the tests hang counts as killed.
const boundMs = 15 * 60_000;

const running = new Set<ChildProcess>();
const copies = new Set<TreeCopy>();

/** Applies each mutant to a copy of the tree, builds it and runs the tests that must fail then. */
export async function runHandWritten(names: readonly string[], stopping: AbortSignal): Promise<Judged[]> {
  const wanted = handWritten.filter(({ name }) => names.length === 0 || names.includes(name));
  if (wanted.length === 0) return [];
  try {
    const trees = await Promise.all(Array.from({ length: atOnce }, makeCopy));
    const [first] = trees as [TreeCopy];
    await requireGreen(first, [...new Set(wanted.flatMap(({ tests }) => tests))]);
    const queue = [...wanted];
    const judged: Judged[] = [];
    await Promise.all(
      trees.map(async (tree) => {
        for (let next = queue.shift(); next && !stopping.aborted; next = queue.shift()) {
          const one = await judge(tree, next);
          if (stopping.aborted) return;
          judged.push(one);
          console.log(
            `${one.verdict.padEnd(8)} ${String(one.seconds).padStart(4)} s  ${next.name}  ${one.by}`,
          );
        }
      }),
    );
    return judged;
  } finally {
    await cleanUp();
  }
}

/** Stops running tests and removes the copies. */
export async function cleanUp(): Promise<void> {
  for (const { pid } of running) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  await Promise.all([...copies].map((copy) => copy.remove()));
  copies.clear();
}

async function makeCopy(): Promise<TreeCopy> {
  const copy = await copyTree(process.cwd());
  copies.add(copy);
  return copy;
}

/** Tests that fail without a mutant would kill every mutant. On a busy machine a test may time out once; twice is a failure. */
async function requireGreen(tree: TreeCopy, tests: readonly string[]): Promise<void> {
  console.log(`running ${tests.length} test files without a mutant first`);
  for (const isLast of [false, true]) {
    const { code, failed, output } = await runTests(tree, tests);
    if (code === 0) return;
    if (isLast) throw new Error(`tests fail without a mutant: ${failed}\n${output.slice(-3_000)}`);
    console.log(`failed without a mutant, so they run once more: ${failed}`);
  }
}

async function judge(tree: TreeCopy, mutant: Mutant): Promise<Judged> {
  const startedMs = performance.now();
  const end = (verdict: Verdict, by = ''): Judged => {
    return { mutant, verdict, seconds: Math.round((performance.now() - startedMs) / 1000), by };
  };
  const undo = await replaceOnce(tree, mutant);
  if (!undo) return end('stale');
  try {
    const tsc = join(tree.folder, 'node_modules/typescript/bin/tsc');
    const build = await run(tree, [tsc, '--build']);
    if (build.code !== 0) return end('broken', build.output.slice(0, 500));
    const { code, failed } = await runTests(tree, mutant.tests);
    return code === 0 ? end('survived') : end('killed', failed);
  } finally {
    await undo();
  }
}

async function runTests(tree: TreeCopy, tests: readonly string[]) {
  const report = join(tree.folder, 't', 'report.json');
  const vitest = join(tree.folder, 'node_modules/vitest/vitest.mjs');
  await rm(report, { force: true });
  const options = ['--bail=1', '--reporter=json', `--outputFile=${report}`];
  const { code, output } = await run(tree, [vitest, 'run', ...options, ...tests]);
  return { code, output, failed: code === 0 ? '' : await firstFailure(report) };
}

type Report = { testResults: { name: string; assertionResults: { status: string; fullName: string }[] }[] };

async function firstFailure(report: string): Promise<string> {
  const text = await readFile(report, 'utf8').catch(() => '{"testResults":[]}');
  const { testResults } = JSON.parse(text) as Report;
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim()),
  );
  return failed[0] ?? 'a file that could not run';
}

function run({ folder }: TreeCopy, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    // Its own process group, so that no child outlives it. Temporary files go into the copy.
    const child = spawn(process.execPath, args, {
      cwd: folder,
      detached: true,
      env: { ...process.env, TMPDIR: join(folder, 't') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), boundMs);
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code, output });
    });
  });
}
