import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The pages of the repository, the README first. */
export async function markdownPages(): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string) => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder ? `${folder}/${entry.name}` : entry.name;
      if (entry.isFile() && path.endsWith('.md')) found.push(path);
      if (entry.isDirectory() && !/^\.|^(node_modules|dist|src|test)$/.test(entry.name)) await visit(path);
    }
  };
  await visit('');
  return found.sort(
    (one, other) => Number(other === 'README.md') - Number(one === 'README.md') || one.localeCompare(other),
  );
}

export type ShellBlock = { page: string; line: number; text: string };

/** Every block that a reader would paste into a shell, in order. */
export async function shellBlocksOf(page: string): Promise<ShellBlock[]> {
  const text = await readFile(join(root, page), 'utf8');
  return [...text.matchAll(/^( *)```(?:sh|bash|zsh|shell|console)\n([\s\S]*?)^\1```$/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split('\n').length,
    text: (found[2] ?? '').replaceAll(new RegExp(`^${found[1]}`, 'gm'), ''),
  }));
}
