import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../../scripts/dist/check-sizes.js', import.meta.url));
const lines = (count: number) => "  work('é');\n".repeat(count);
const inner = (name: string) => `  function ${name}() {\n${lines(48)}  }\n`;

const files = {
  'long-file.ts': `export function a() {}\n${'const x = 1;\n'.repeat(300)}`,
  'long-function.ts': `export function long() {\n${lines(59)}}\n`,
  'long-callback.ts': `export function calls() {\n  later(() => {\n${lines(57)}  });\n}\n`,
  'long-factory.ts': `export function makes() {\n${['a', 'b', 'c'].map(inner).join('')}  return { a, b, c };\n}\n`,
  'long-method.ts': `export const makes = () => ({\n  method() {\n${lines(59)}  },\n});\n`,
  // As long as allowed.
  'sql.ts': `export function a() {}\n${'export const x = statement();\n'.repeat(300)}`,
  'fits.ts': `export function fits() {\n${['a', 'b'].map(inner).join('')}${lines(48)}}\nconst two = () => {\n${lines(58)}};\n`,
  'long.test.ts': `test('long', () => {\n${lines(400)}});\n`,
};

test('files and functions that are too long are found, and named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sizes-'));
  await mkdir(join(folder, 'server/src'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'server/src', name), text);
  const found = await new Promise<string>((resolve) =>
    execFile(process.execPath, [program, folder], (_error, _stdout, stderr) => resolve(stderr)),
  );
  await rm(folder, { recursive: true });
  expect(found.trim().split('\n')).toEqual([
    'server/src/long-callback.ts: calls has 61 lines of its own; 60 are the most',
    'server/src/long-factory.ts: makes has 153 lines with its functions; 150 are the most',
    'server/src/long-file.ts: the file has 301 lines; 300 are the most, so look for a second duty',
    'server/src/long-function.ts: long has 61 lines of its own; 60 are the most',
    'server/src/long-method.ts: method has 61 lines of its own; 60 are the most',
  ]);
});
