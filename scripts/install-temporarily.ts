import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs packages into a temporary folder: for tools that are large, or do not officially support Node 20. */
export async function installTemporarily(name: string, version: string, others: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-tool-'));
  const packages = [`${name}@${version}`, ...others];
  console.log(`installing ${packages.join(', ')} into a temporary folder`);
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', ...packages];
  await promisify(execFile)('npm', args, { cwd: folder });
  return {
    folder,
    path: join(folder, 'node_modules', name),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
