/** Checks without running tests that the text of each hand-written mutant occurs exactly once in its file. */
import { readFile } from 'node:fs/promises';
import { handWritten } from './hand-written.ts';

for (const { name, file, find } of handWritten) {
  const text = await readFile(file, 'utf8').catch(() => '');
  const count = text.split(find).length - 1;
  if (count === 1) continue;
  console.error(`stale mutant ${name}: its text occurs ${count} times in ${file}`);
  process.exitCode = 1;
}
