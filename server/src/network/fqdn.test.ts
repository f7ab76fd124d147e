import { expect, test } from 'vitest';
import { fqdnPattern } from './fqdn.ts';

test('an SM-DP+ address is a domain name, whole', () => {
  for (const name of ['smdp.example', 'a-1.SMDP.example', `${'a'.repeat(63)}.example`])
    expect(name, name).toMatch(fqdnPattern);
  const wrong = [
    'smdp',
    'smdp.example/',
    'smdp.example:443',
    'x$smdp.example',
    '-a.example',
    '1.2.3.4',
    'a..b',
  ];
  for (const text of [...wrong, 'smdp.example$1', `${'a'.repeat(64)}.example`, `${'a.'.repeat(126)}ab`])
    expect(text, text).not.toMatch(fqdnPattern);
});
