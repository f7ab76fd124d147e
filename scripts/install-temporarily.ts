import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs a package into a temporary folder: for tools that are large, or do not officially support Node 20. */
export async function installTemporarily(name: string, version: string) {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-tool-'));
  console.log(`installing ${name}@${version} into a temporary folder`);
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', `${name}@${version}`];
  await promisify(execFile)('npm', args, { cwd: folder });
  return {
    path: join(folder, 'node_modules', name),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
