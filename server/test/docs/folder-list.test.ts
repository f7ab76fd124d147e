import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const [, folderList = ''] = (await readFile(`${root}docs/ARCHITECTURE.md`, 'utf8')).split('```');

/** The folders that the list has at this depth; a line may start with several. */
function listedAt(indent: string): string[] {
  const lines = folderList
    .split('\n')
    .filter((line) => line.startsWith(indent) && line[indent.length] !== ' ');
  return lines
    .flatMap(
      (line) =>
        line
          .trim()
          .match(/^([\w-]+\/ ?)+/)?.[0]
          .match(/[\w-]+/g) ?? [],
    )
    .sort();
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(root + path, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

test('docs/ARCHITECTURE.md lists each folder of the repository once', async () => {
  const needNoWords = /^\.|^(docs|node_modules)$/;
  expect(listedAt('')).toEqual((await foldersIn('')).filter((name) => !needNoWords.test(name)));
});

test('docs/ARCHITECTURE.md lists each folder of server/src once', async () => {
  expect(listedAt('    ')).toEqual(await foldersIn('server/src'));
});
