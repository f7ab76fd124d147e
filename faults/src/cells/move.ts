import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisRelease } from '../deployment/processes.ts';
import { note } from '../history/note.ts';
import type { Random } from '../random.ts';
import type { RunContext } from '../run-context.ts';
import type { Cell } from './cell.ts';

/** The steps of a move, as its statements, in their order. A statement is not sent: the command dies before it. */
export const steps: readonly string[] = [
  'move_subscribe',
  'move_take_leases',
  'move_last_entry',
  'move_count',
  'move_insert_webhook_endpoints',
  'move_forget',
  'move_unsubscribe',
  'move_remove_esims',
  'move_unguard_events',
];

type Move = {
  account: string;
  from: Cell;
  to: Cell;
  killAt: readonly string[];
  random: Random;
  /** Gets the lines for the router as soon as the command prints them. */
  learn(lines: string): Promise<void>;
};

const dieBefore = new URL('./die-before.js', import.meta.url).href;

/** Runs the command again until it has ended the move, and returns how often it was killed. It is killed before each of the given steps, or else at any moment. */
export async function moveWithKills(ctx: RunContext, move: Move): Promise<number> {
  const { account, from, to, killAt, random, learn } = move;
  let kills = 0;
  for (let run = 0; ; run++, await sleep(500)) {
    const step = killAt[kills];
    const preload = step === undefined ? [] : ['--import', dieBefore];
    const args = [thisRelease.server, 'accounts', 'move', account, '--to', to.env['DATABASE_URL'] as string];
    const command = spawn(process.execPath, [...preload, ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        ...from.env,
        ...(step !== undefined && { FAULTS_DIE_BEFORE: step }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [says, learned] = ['', Promise.resolve()];
    command.stdout.on('data', (chunk: Buffer) => {
      learned = learn(String(chunk));
    });
    command.stderr.on('data', (chunk) => {
      says += chunk;
    });
    const isTimed = killAt.length === 0 && run < 2;
    const timer = isTimed ? setTimeout(() => command.kill('SIGKILL'), 500 + random.below(8_500)) : null;
    const [code] = (await once(command, 'close')) as [number | null];
    if (timer) clearTimeout(timer);
    const last = says.trim().split('\n').at(-1);
    note(
      ctx.history,
      `the move of ${account} from ${from.name} ended with ${code ?? `a kill at ${step ?? 'any moment'}`}: ${last}`,
    );
    await learned;
    if (code === 0) return kills;
    if (code === null) kills += 1;
    if (Date.now() > ctx.deadlineMs) throw new Error(`the move does not end: ${last}`);
  }
}
