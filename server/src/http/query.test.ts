import { expect, test } from 'vitest';
import { readQuery } from './query.ts';

const schema = {
  properties: {
    flag: { type: 'boolean' },
    limit: { type: 'integer' },
    type: { type: 'array' },
    metadata: { type: 'object' },
    name: { type: 'string' },
  },
};

test('text that its schema reads becomes a value, and other text stays for the validator to refuse', () => {
  const read = (query: Record<string, unknown>) => readQuery(schema, query);
  expect(['true', 'false', 'TRUE', 'maybe', ''].map((flag) => read({ flag })['flag'])).toEqual([
    ...[true, false, 'TRUE', 'maybe', ''],
  ]);
  expect(['7', '-7', '1e1', '0x7', ' 7'].map((limit) => read({ limit })['limit'])).toEqual([
    ...[7, -7, '1e1', '0x7', ' 7'],
  ]);
  expect(read({ type: ['a,b', 'c'], name: 'a,b', 'metadata[a]': '1', 'name[a]': '2' })).toEqual({
    ...{ type: ['a', 'b', 'c'], name: 'a,b', metadata: { a: '1' }, 'name[a]': '2' },
  });
  expect(read({ metadata: 'bare', 'metadata[a]': '1' })).toEqual({ metadata: 'bare' });
});
