import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export type Ports = { hanging: number[]; dead: number[] };

/** Starts receivers in a child process; `cut` closes every connection to them. */
export async function startBrokenReceivers(counts: {
  hanging: number;
  dead: number;
}): Promise<{ ports: Ports; cut(): void; stop(): void }> {
  const program = new URL('../load/hanging-receiver.js', import.meta.url);
  const child: ChildProcess = fork(program, [String(counts.hanging), String(counts.dead)]);
  const [ports] = (await once(child, 'message')) as [Ports];
  return {
    ports,
    cut: () => child.send('cut'),
    stop: () => child.disconnect(),
  };
}
