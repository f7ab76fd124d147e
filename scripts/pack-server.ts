/**
 * `npm run pack:server`: packs the bundled server as one package that `npx` can start in an empty folder. Writes the file to the
 * repository's root or to the given folder, and prints its name.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'simplane-pack-'));
try {
  await copy('server', ['package.json', 'bin', 'bundle', 'migrations']);
  await copy('mcp', ['package.json']);
  await copy('dashboard', ['dist']);
  await copy('.', ['LICENSE', 'README.md']);
  const text = await readFile(join(root, 'server/package.json'), 'utf8');
  const { version, license, description, optionalDependencies } = JSON.parse(text);
  const manifest = {
    ...{ name: 'simplane-server', version, description, license, type: 'module' },
    engines: { node: '>=20.19' },
    bin: { 'simplane-server': 'server/bin/simplane-server.js' },
    optionalDependencies, // the embedded PostgreSQL; all else is in the bundle
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

async function copy(from: string, names: string[]): Promise<void> {
  await mkdir(join(folder, from), { recursive: true });
  for (const name of names) await cp(join(root, from, name), join(folder, from, name), { recursive: true });
}
