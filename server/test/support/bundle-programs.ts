import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What tests start, by the name of its bundle. Built before; `npm start` and the documented commands run these files themselves. */
const programs = {
  'simplane-server': 'server/dist/main.js',
  simplane: 'cli/dist/main.js',
  'recorded-server': 'server/test/support/recorded-server.mjs',
  'es2-server': 'server/test/support/es2-server.mjs',
  'faults-server': 'faults/dist/deployment/recorded-server.js',
  'stdio-server': 'mcp/test/support/stdio-server.mjs',
};

/**
 * Bundles the programs into a few files each. Loading a server's 1,000 modules one by one takes two thirds of its start, and
 * the tests start hundreds of processes.
 */
export async function bundlePrograms(folder: string): Promise<void> {
  await Promise.all([
    build({ ...options, outdir: folder, entryPoints: programs, plugins: [keepModuleUrl, shareWithPreloads] }),
    build({ ...options, outdir: folder, entryPoints: selfContained, external: ['pg-native'] }),
  ]);
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
      if (path.includes('/node_modules/')) return undefined;
      const text = await readFile(path, 'utf8');
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) };
    });
  },
};

/** Modules preloaded into a server change `pg`, so it must be the same one. */
const shareWithPreloads: Plugin = {
  name: 'share-with-preloads',
  setup({ onResolve }) {
    const { resolve } = createRequire(join(root, 'server/package.json'));
    onResolve({ filter: /^pg$/ }, () => ({ path: pathToFileURL(resolve('pg')).href, external: true }));
  },
};
