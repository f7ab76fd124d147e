import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';
import { replaceOnce, type TreeCopy } from './tree-copy.ts';

/**
 * The mutants that do not compile, by name, with what `tsc` says. It checks as many at once as are in different files. Those that do
 * not compile together it divides, by the files that `tsc` names if it can: to check each mutant would take two hours.
 */
export async function findBroken(
  tree: TreeCopy,
  mutants: readonly Mutant[],
  stopping: AbortSignal,
): Promise<Map<string, string>> {
  const broken = new Map<string, string>();
  async function check(some: readonly Mutant[]): Promise<void> {
    if (stopping.aborted) return;
    const errors = await compile(tree, some, stopping);
    const [first] = some;
    if (errors === null || !first) return;
    if (some.length === 1) return void broken.set(first.name, errors.slice(0, 500));
    const isNamed = ({ file }: Mutant) => errors.includes(`${file}(`);
    const halved = some.every(isNamed) || !some.some(isNamed);
    const isSuspect = halved ? (_: Mutant, index: number) => index < some.length / 2 : isNamed;
    await check(some.filter(isSuspect));
    await check(some.filter((one, index) => !isSuspect(one, index)));
  }
  for (const batch of inDifferentFiles(mutants)) await check(batch);
  const errors = await compile(tree, [], stopping);
  if (errors !== null && !stopping.aborted)
    throw new Error(`it does not compile without a mutant:\n${errors}`);
  return broken;
}

function inDifferentFiles(mutants: readonly Mutant[]): Mutant[][] {
  const batches: Mutant[][] = [];
  const counts = new Map<string, number>();
  for (const mutant of mutants) {
    const index = counts.get(mutant.file) ?? 0;
    counts.set(mutant.file, index + 1);
    batches[index] = [...(batches[index] ?? []), mutant];
  }
  return batches;
}

/** What `tsc` says of the copy with these mutants, or null if it compiles. */
async function compile(
  tree: TreeCopy,
  mutants: readonly Mutant[],
  stopping: AbortSignal,
): Promise<string | null> {
  const undo = await Promise.all(mutants.map((mutant) => replaceOnce(tree, mutant)));
  const errors = await runTsc(tree, stopping);
  if (!stopping.aborted) for (const one of undo) await one?.();
  return errors;
}

async function runTsc({ folder }: TreeCopy, stopping: AbortSignal): Promise<string | null> {
  const args = [join(folder, 'node_modules/typescript/bin/tsc'), '--build', '--pretty', 'false'];
  // Its own process group, so that its child does not write into the copy while that is removed.
  const tsc = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const kill = () => void (tsc.pid !== undefined && process.kill(-tsc.pid, 'SIGKILL'));
  stopping.addEventListener('abort', kill);
  let output = '';
  tsc.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  const [code] = (await once(tsc, 'close')) as [number | null];
  stopping.removeEventListener('abort', kill);
  return code === 0 ? null : output || `tsc ended with ${code}`;
}
