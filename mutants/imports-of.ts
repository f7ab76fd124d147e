import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const imported = /(?:\bfrom\s+|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"\n]+)\1/g;

/** The file and all files below `root` that it imports by a relative path, directly or not, with their texts. */
export async function importsOf(root: string, file: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waiting = [file];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    const text = await readFile(join(root, next), 'utf8').catch(() => null);
    if (text === null) continue;
    found.set(next, text);
    for (const [, , path = ''] of text.matchAll(imported)) {
      // A built module stands for its source, which may not be imported by that name.
      waiting.push(join(dirname(next), path).replace(/\/dist\/(.*)\.js$/, '/src/$1.ts'));
    }
  }
  return found;
}
