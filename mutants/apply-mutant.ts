import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';
import type { Mutant } from './mutant.ts';
import { replaceOnce, type TreeCopy } from './tree-copy.ts';

/**
 * Writes the mutant into the copy's source and into its build, as `tsc` would: it removes only types. Returns a function that undoes
 * both, or null if the mutant is stale.
 */
export async function applyMutant(tree: TreeCopy, mutant: Mutant): Promise<(() => Promise<void>) | null> {
  const undoSource = await replaceOnce(tree, mutant);
  if (!undoSource) return null;
  const source = await readFile(join(tree.folder, mutant.file), 'utf8');
  const undo = [undoSource];
  for (const { path, format } of builtFrom(mutant.file)) {
    const built = join(tree.folder, path);
    const before = await readFile(built, 'utf8');
    await writeFile(built, await transpile(source, format));
    undo.push(() => writeFile(built, before));
  }
  return async () => {
    await Promise.all(undo.map((one) => one()));
  };
}

type Built = { path: string; format: 'esm' | 'cjs' };

/** What `tsc --build` writes for this source. Vite builds the dashboard: see serve-tests.ts. */
function builtFrom(file: string): Built[] {
  const [, workspace, name] = /^(?!dashboard\/)(\w+)\/src\/(.+)\.ts$/.exec(file) ?? [];
  if (workspace === undefined) return [];
  const built: Built[] = [{ path: `${workspace}/dist/${name}.js`, format: 'esm' }];
  if (workspace === 'sdk') built.push({ path: `sdk/cjs/dist/${name}.js`, format: 'cjs' });
  return built;
}

async function transpile(source: string, format: Built['format']): Promise<string> {
  const { code } = await transform(source, {
    loader: 'ts',
    format,
    target: 'es2023',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return code.replaceAll(/\b(from |import |import\(|require\()"(\.{1,2}\/[^"\n]+)\.ts"/g, '$1"$2.js"');
}
