/** Builds the page into `dist/`, unless it was built from the same sources: `npm start` runs this every time. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

// Tests run with NODE_ENV=test, which would build React for development.
process.env.NODE_ENV = 'production';

const root = new URL('./', import.meta.url);
const dist = new URL('dist/', root);
const stamp = new URL('built-from', dist);

const wanted = await hashOfSources();
if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
  const [{ build }, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')]);
  await build({
    configFile: false,
    root: fileURLToPath(root),
    base: '/dashboard/',
    logLevel: 'warn',
    plugins: [react()],
    build: {
      outDir: fileURLToPath(dist),
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0, // the page's policy allows no data: but for pictures
      modulePreload: { polyfill: false },
    },
  });
  await compressFiles();
  await writeFile(stamp, wanted);
}

/** Everything the page is made of, the built SDK included. */
async function hashOfSources() {
  const hash = createHash('sha256');
  for (const folder of ['src/', '../sdk/dist/']) {
    const names = await readdir(new URL(folder, root), { recursive: true });
    for (const name of names.filter((name) => /\.(tsx?|css|js)$/.test(name)).sort()) {
      hash.update(name).update(await readFile(new URL(folder + name, root)));
    }
  }
  for (const name of ['index.html', 'build.js', 'package.json'])
    hash.update(await readFile(new URL(name, root)));
  return hash.digest('hex');
}

/** The server sends these files as they are, so they are compressed once and as well as possible. */
async function compressFiles() {
  const names = await readdir(dist, { recursive: true });
  const texts = names.filter((name) => /\.(html|js|css|svg)$/.test(name));
  await Promise.all(
    texts.map(async (name) => {
      const bytes = await readFile(new URL(name, dist));
      await writeFile(new URL(`${name}.br`, dist), await promisify(brotliCompress)(bytes));
      await writeFile(new URL(`${name}.gz`, dist), await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}
