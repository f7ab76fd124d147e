import { readFileSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What tests start, by the name of its bundle. Built before; `npm start` and the documented commands run these files themselves. */
const programs = {
  simplane: 'cli/dist/main.js',
  'stdio-server': 'mcp/test/support/stdio-server.mjs',
};

/** Started hundreds of times, so they share one bundle whose compiled code is kept: see start-compiled.mjs. */
const servers = {
  'simplane-server': 'server/dist/main.js',
  'recorded-server': 'server/test/support/recorded-server.mjs',
  'es2-server': 'server/test/support/es2-server.mjs',
  'faults-server': 'faults/dist/deployment/recorded-server.js',
};

/**
 * Bundles the programs into a few files each. Loading a server's 1,000 modules one by one takes two thirds of its start, and
 * the tests start hundreds of processes.
 */
export async function bundlePrograms(folder: string): Promise<void> {
  await Promise.all([
    build({ ...options, outdir: folder, entryPoints: programs, plugins: [keepModuleUrl] }),
    build({ ...options, outdir: folder, entryPoints: selfContained, external: ['pg-native'] }),
    bundleServers(folder),
  ]);
}

/** As CommonJS, because Node 20 takes compiled code for scripts only. */
async function bundleServers(folder: string): Promise<void> {
  const starts = Object.entries(servers).map(([name, path]) => `'${name}': () => import('./${path}'),`);
  await build({
    absWorkingDir: root,
    stdin: { contents: `export const starts = {\n${starts.join('\n')}\n};`, resolveDir: root },
    outfile: join(folder, 'servers.cjs'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // A function, as it is run: see start-compiled.mjs.
    banner: { js: '(function (require, module, moduleUrl) {' },
    footer: { js: '})' },
    define: { 'import.meta.url': 'moduleUrl' },
    plugins: [keepModuleUrl, sharePgWithPreloads((path) => path)],
    logLevel: 'error',
  });
  const starter = 'start-compiled.mjs';
  await copyFile(new URL(starter, import.meta.url), join(folder, starter));
  for (const name of Object.keys(servers)) {
    const text = `import { start } from './${starter}';\nawait start('${name}');\n`;
    await writeFile(join(folder, `${name}.mjs`), text);
  }
}

/** Bundles the programs of another source tree, which has neither packages nor a build: it uses our packages. */
export async function bundleTree(tree: string, folder: string): Promise<void> {
  await build({
    ...options,
    absWorkingDir: tree,
    outdir: folder,
    entryPoints: {
      'simplane-server': 'server/src/main.ts',
      'faults-server': 'faults/src/deployment/recorded-server.ts',
    },
    plugins: [sharePgWithPreloads((path) => pathToFileURL(path).href), sourcesOf(tree)],
  });
}

/** Another user, who may not reach our modules, starts this one. */
const selfContained = { hold: 'server/test/embedded/support/hold.ts' };

const options: BuildOptions = {
  absWorkingDir: root,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // CommonJS packages call `require` for Node's own modules.
  banner: {
    js: "import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(import.meta.url);",
  },
  logLevel: 'error',
};

/** A module finds migrations, pages and packages from its own place. */
const keepModuleUrl: Plugin = {
  name: 'keep-module-url',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?js$/ }, async ({ path }) => {
      return path.includes('/node_modules/') ? undefined : { contents: await readModule(path) };
    });
  },
};

async function readModule(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  return text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
}

/** Workspaces are found in the tree, as sources; packages where our workspace of that name finds them. */
function sourcesOf(tree: string): Plugin {
  return {
    name: 'sources-of-tree',
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind, importer, resolveDir }) => {
        if (kind === 'entry-point' || path.startsWith('node:') || !resolveDir.startsWith(tree))
          return undefined;
        const [, workspace = '', part = ''] = /^@simplane\/(\w+)(\/.+)?$/.exec(path) ?? [];
        if (workspace !== '') return { path: sourceOf(join(tree, workspace), `.${part}`) };
        const [own = ''] = relative(tree, resolveDir).split(sep);
        return resolve(path, { kind, importer, resolveDir: join(root, own) });
      });
      onLoad({ filter: /\.ts$/ }, async ({ path }) => ({ contents: await readModule(path), loader: 'ts' }));
    },
  };
}

/** The source of what a workspace exports under this name. */
function sourceOf(workspace: string, name: string): string {
  const { exports } = JSON.parse(readFileSync(join(workspace, 'package.json'), 'utf8'));
  const { default: built } = exports[name].import ?? exports[name];
  return join(workspace, built.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
}

/** Modules preloaded into a server change `pg`, so it must be the same one. */
function sharePgWithPreloads(addressOf: (path: string) => string): Plugin {
  return {
    name: 'share-pg-with-preloads',
    setup({ onResolve }) {
      const { resolve } = createRequire(join(root, 'server/package.json'));
      onResolve({ filter: /^pg$/ }, () => ({ path: addressOf(resolve('pg')), external: true }));
    },
  };
}
