/** Checks without running tests that each hand-written mutant has its own name, and that its text occurs exactly once in its file. */
import { readFile } from 'node:fs/promises';
import { handWritten } from './hand-written.ts';

const names = new Set<string>();

for (const { name, file, find } of handWritten) {
  if (names.has(name)) {
    console.error(`two mutants are called ${name}`);
    process.exitCode = 1;
  }
  names.add(name);
  const text = await readFile(file, 'utf8').catch(() => '');
  const count = text.split(find).length - 1;
  if (count === 1) continue;
  console.error(`stale mutant ${name}: its text occurs ${count} times in ${file}`);
  process.exitCode = 1;
}
