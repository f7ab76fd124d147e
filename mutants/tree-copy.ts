import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const skipped = new Set(['node_modules', '.git', '.simplane', '.stryker-tmp', 'docs']);

export type TreeCopy = { folder: string; remove(): Promise<void> };

/** A copy of the working tree, including builds, that can be changed and built separately. Packages are linked, not copied. */
export async function copyTree(root: string): Promise<TreeCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'smut-'));
  // The tests' PostgreSQL may run as another user, which must be able to read its files.
  await chmod(folder, 0o755);
  for (const name of await readdir(root)) {
    if (skipped.has(name)) continue;
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => basename(path) !== 'node_modules',
    });
  }
  await linkPackages(root, folder);
  for (const workspace of await readdir(folder)) {
    const packages = join(root, workspace, 'node_modules');
    await symlink(packages, join(folder, workspace, 'node_modules')).catch(() => {});
  }
  // Tests read some of the docs.
  await cp(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
  await mkdir(join(folder, 't'), { mode: 0o777 });
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Our own workspaces are linked to the copy, so that the others use a changed one. */
async function linkPackages(root: string, folder: string): Promise<void> {
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  await mkdir(join(to, '@simplane'), { recursive: true });
  for (const name of await readdir(from)) {
    if (name !== '@simplane' && !name.startsWith('.vite')) await symlink(join(from, name), join(to, name));
  }
  for (const name of await readdir(join(from, '@simplane'))) {
    await symlink(await readlink(join(from, '@simplane', name)), join(to, '@simplane', name));
  }
}

/** Replaces `find` in a file of the copy if it occurs exactly once. Returns a function that undoes it, or null. */
export async function replaceOnce(
  { folder }: TreeCopy,
  { file, find, replace }: { file: string; find: string; replace: string },
): Promise<(() => Promise<void>) | null> {
  const path = join(folder, file);
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before.split(find).length !== 2) return null;
  await writeFile(path, before.split(find).join(replace));
  return () => writeFile(path, before);
}
