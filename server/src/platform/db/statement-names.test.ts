import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const source = new URL('../../', import.meta.url);

test('no two statements have the same name: a connection that has prepared one refuses the other', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  );
  const names = files.flatMap((path) =>
    [
      ...readFileSync(new URL(path, source), 'utf8').matchAll(
        /\bname: '(\w+)'(?=,\s*text\b)|\b(?:many|one|value|single|list|exists|count|run)(?:<[^()]*>)?\(\s*'(\w+)'/g,
      ),
    ].map(([, name, nameOfValue]) => name ?? nameOfValue),
  );
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
