/**
 * `npm run pack:server`: packs the server with the workspaces it uses, which are not published, as one package that `npx` can start
 * in an empty folder. Writes the file to the repository's root or to the given folder, and prints its name.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Manifest = {
  [name in 'version' | 'license' | 'description']: string;
} & { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };

const folder = await mkdtemp(join(tmpdir(), 'simplane-pack-'));
try {
  const server = await readManifest('server');
  const own = Object.keys(server.dependencies ?? {}).filter(isOwn);
  const workspaces = own.map((name) => name.replace('@simplane/', ''));
  const manifests = [server, ...(await Promise.all(workspaces.map(readManifest)))];
  const dependencies = Object.assign({}, ...manifests.map((manifest) => manifest.dependencies));
  for (const workspace of workspaces)
    await copy(workspace, `node_modules/@simplane/${workspace}`, ['package.json', 'dist']);
  await copy('server', 'server', ['package.json', 'bin', 'dist', 'migrations']);
  await copy('dashboard', 'dashboard', ['dist']);
  await copy('.', '.', ['LICENSE', 'README.md']);
  const { version, license, description, optionalDependencies } = server;
  const manifest = {
    ...{
      name: 'simplane-server',
      version,
      description,
      license,
      type: 'module',
      engines: { node: '>=20.19' },
    },
    bin: { 'simplane-server': 'server/bin/simplane-server.js' },
    dependencies,
    optionalDependencies,
    bundleDependencies: own,
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--pack-destination', process.argv[2] ?? root],
    { cwd: folder },
  );
  process.stdout.write(stdout);
} finally {
  await rm(folder, { recursive: true });
}

async function readManifest(workspace: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, workspace, 'package.json'), 'utf8')) as Manifest;
}

function isOwn(name: string): boolean {
  return name.startsWith('@simplane/');
}

async function copy(from: string, to: string, names: string[]): Promise<void> {
  await mkdir(join(folder, to), { recursive: true });
  for (const name of names) await cp(join(root, from, name), join(folder, to, name), { recursive: true });
}
