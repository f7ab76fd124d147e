import { chmod, mkdir } from 'node:fs/promises';
import { runCommand } from './run-command.ts';
import type { SystemUser } from './system-user.ts';

/** Tries it as that user instead of checking modes, because ACLs and mounts matter too. */
export async function canEnter(user: SystemUser, folder: string): Promise<boolean> {
  const { ok } = await runCommand(user, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]);
  return ok;
}

/** Creates a folder that other users can enter, regardless of the umask. */
export async function makeReachable(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o755 });
  if (made !== undefined) await chmod(folder, 0o755);
}
