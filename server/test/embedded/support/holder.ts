import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { EmbeddedPostgresOptions } from '../../../src/platform/db/embedded/start.ts';
import type { TestUser } from './users.ts';
import type { Workspace } from './workspace.ts';

export type Started = { connectionString: string; dataDir: string; notice: string | null };
type Failed = { name: string; message: string; pid?: number };
type Answer = { started?: Started; claimed?: string; failed?: Failed; interrupted?: true; stopped?: true };

type Holder = {
  pid: number;
  process: ChildProcess;
  answer(): Promise<Answer>;
  started(): Promise<Started>;
  /** Of a process that claims folders. */
  claim(folder: string): Promise<Answer>;
  stop(): Promise<void>;
  kill(): Promise<void>;
};

/** Starts the embedded database in a separate node process, as the given user. */
export function hold(workspace: Workspace, user: TestUser, options: EmbeddedPostgresOptions): Holder {
  const full = { packageDir: workspace.packageDir, reachableBase: workspace.reachableBase, ...options };
  return spawnHolder(workspace, user, ['start', JSON.stringify(full)]);
}

/** Starts a node process that claims folders, without a database. */
export function startClaimer(workspace: Workspace, user: TestUser): Holder {
  return spawnHolder(workspace, user, ['claim']);
}

function spawnHolder(workspace: Workspace, user: TestUser, args: string[]): Holder {
  const child = spawn(workspace.node, [workspace.holdScript, ...args], {
    ...user.spawn,
    cwd: '/',
    // Its own process group, like a command run from a terminal.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.on('error', () => {});
  workspace.onCleanup(async () => {
    child.kill('SIGKILL');
    await exited;
  });

  const answer = async (): Promise<Answer> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the holder ended without an answer');
    return JSON.parse(value) as Answer;
  };
  return {
    pid: child.pid ?? 0,
    process: child,
    answer,
    async started() {
      const reply = await answer();
      if (!reply.started) throw new Error(`did not start: ${JSON.stringify(reply)}`);
      return reply.started;
    },
    claim(folder) {
      child.stdin.write(`${folder}\n`);
      return answer();
    },
    async stop() {
      child.stdin.write('stop\n');
      await exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
