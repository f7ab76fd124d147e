import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('SECURITY.md', root), 'utf8');

test('each row of the table of shared things names a test that exists', () => {
  const [, table = ''] = page.split('| shared thing | bound | test |\n|---|---|---|\n');
  const rows = table.split('\n\n', 1)[0]?.split('\n') ?? [];
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const [, , , reference = ''] = row.split('|');
    const [, name = '', title = ''] = /^ `([\w/-]+)`: (.+) $/.exec(reference) ?? [];
    const folder = name.startsWith('src/') ? 'server/' : 'server/test/';
    const file = new URL(`${folder}${name}.test.ts`, root);
    expect([row, existsSync(file)]).toEqual([row, true]);
    expect(readFileSync(file, 'utf8')).toContain(title);
  }
});
