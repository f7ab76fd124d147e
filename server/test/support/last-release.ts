import { execFile } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleTree } from './bundle-programs.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);
const parts = ['contract', 'reference', 'sdk', 'mcp', 'server', 'faults', 'tsconfig.base.json'];

type LastRelease = {
  /** The folder of its bundled programs. */
  programs: string;
  migrations: URL;
  remove(): Promise<void>;
};

/** Takes the release that `last-release.json` names out of the git history, and bundles its programs with our packages. */
export async function buildLastRelease(): Promise<LastRelease> {
  const { commit } = JSON.parse(await readFile(join(root, 'last-release.json'), 'utf8')) as {
    commit: string;
  };
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'simplane-last-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const programs = join(folder, 'programs');
  try {
    await extract(commit, folder);
    await bundleTree(folder, programs);
  } catch (error) {
    await remove();
    throw error;
  }
  return { programs, migrations: pathToFileURL(join(folder, 'server/migrations/')), remove };
}

async function extract(commit: string, folder: string): Promise<void> {
  await git('cat-file', '-e', `${commit}^{commit}`).catch((cause: Error) => {
    throw new Error(
      `The last release, commit ${commit} of last-release.json, is not in the git history, so an upgrade from it cannot be tested. Fetch the full history: git fetch --unshallow (in a workflow, fetch-depth: 0).`,
      { cause },
    );
  });
  const archive = join(folder, 'tree.tar');
  await git('archive', '--format=tar', `--output=${archive}`, commit, ...parts);
  await run('tar', ['-xf', archive, '-C', folder]);
}

function git(...args: string[]) {
  // In a container the clone may belong to another user.
  return run('git', ['-c', 'safe.directory=*', ...args], { cwd: root });
}
