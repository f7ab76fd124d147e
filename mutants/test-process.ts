import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Answer, Request } from './serve-tests.ts';
import type { TreeCopy } from './tree-copy.ts';

/** Runs test files of a copy in a process that stays, and is replaced when it must be. */
export type TestProcess = {
  /** If they need longer than the bound, or the process ends, the answer has an `error` and the next request gets a new process. */
  run(request: Request, boundMs: number): Promise<Answer>;
  /** The next request gets a new process. */
  end(): Promise<void>;
};

// Of a test that waits for what a mutant prevents: a second on a quiet machine. With a minute, a quarter of the 260 slowest mutants took
// two thirds of the time, in which two cores were half idle.
const patienceMs = 30_000;
// Failed tests leave databases behind, in memory.
const mostRuns = 100;
const boundOfEndMs = 20_000;

export function testProcessOf({ folder }: TreeCopy): TestProcess {
  let child: ChildProcess | null = null;
  let runs = 0;
  let output = '';

  function start(): ChildProcess {
    // Its own process group, so that no child outlives it. Temporary files go into the copy.
    const started = fork(join(folder, 'mutants/dist/serve-tests.js'), {
      cwd: folder,
      detached: true,
      env: {
        ...process.env,
        ...{ TMPDIR: join(folder, 't'), TEST_PATIENCE_MS: String(patienceMs) },
        ...{ TEST: 'true', VITEST: 'true', NODE_ENV: 'test' },
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [started.stdout, started.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-2_000);
      });
    runs = 0;
    return started;
  }

  async function end(): Promise<void> {
    const ending = child;
    child = null;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const exit = once(ending, 'exit');
    const kill = setTimeout(() => killGroup(ending), boundOfEndMs);
    if (ending.connected) ending.send('end');
    await exit;
    clearTimeout(kill);
  }

  return {
    async run(request, boundMs) {
      if (runs >= mostRuns) await end();
      child ??= start();
      runs++;
      const answer = await answerOf(child, request, boundMs);
      if (typeof answer !== 'string') return answer;
      const error = `${answer}\n${output}`.trim();
      await end();
      return { failed: null, error, notPassed: [...request.tests], failedFiles: [], seconds: {} };
    },
    end,
  };
}

/** The answer, or why there is none. */
async function answerOf(child: ChildProcess, request: Request, boundMs: number): Promise<Answer | string> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), boundMs);
  try {
    child.send(request);
    return await Promise.race([
      once(child, 'message', { signal: stop.signal }).then(([answer]) => answer as Answer),
      once(child, 'exit', { signal: stop.signal }).then(() => 'the process of the tests ended'),
    ]);
  } catch {
    return `no answer within ${Math.round(boundMs / 1000)} s`;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}
