import { chmod, mkdir } from 'node:fs/promises';
import { runCommand } from './run-command.ts';
import type { SystemUser } from './system-user.ts';

/** Asks the kernel, as that user, instead of guessing from modes: ACLs and mounts count too. */
export async function canEnter(user: SystemUser, folder: string): Promise<boolean> {
  const { ok } = await runCommand(user, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]);
  return ok;
}

/** For folders that root makes for others to pass through, whatever the umask says. */
export async function makeReachable(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o755 });
  if (made !== undefined) await chmod(folder, 0o755);
}
