import { expect, test } from 'vitest';
import type { Service } from '../../background/service.ts';
import { checkOrigin } from './check-origin.ts';

const check = (mode: string, origin?: string) => () =>
  checkOrigin({ mode, publicUrl: () => 'https://api.example.com/base' } as unknown as Service, origin);

test('only pages of the public address are let in, and in the sandbox those of this machine', () => {
  expect(check('live')).not.toThrow();
  expect(check('live', 'https://api.example.com')).not.toThrow();
  expect(check('sandbox', 'http://localhost:3000')).not.toThrow();
  for (const other of ['https://api.example.com.evil.example', 'http://api.example.com', 'null', ''])
    for (const mode of ['live', 'sandbox']) expect(check(mode, other), other).toThrow('other sites');
  expect(check('live', 'http://localhost:3000')).toThrow('other sites');
  expect(check('sandbox', 'http://localhost.evil.example')).toThrow('other sites');
});
