import { expect, test } from 'vitest';
import { pathForLog } from './path-for-log.ts';

test.each([
  ['/v1/esims/8999901000000000018/usage?interval=day', '/v1/esims/8999901000000000018/usage'],
  ['/v1/esims?limit=2', '/v1/esims'],
  ['/v1/esims/LPA:1$smdp.example$ABC-1/usage', '/v1/esims/*/usage'],
  ['/v1/sp_test_Abc', '/v1/*'],
  [`/v1/${'a'.repeat(41)}/x`, '/v1/*/x'],
  [`/v1${'/esims'.repeat(100)}`, `/v1${'/esims'.repeat(32)}/esim`],
])('%s is logged as %s', (url, path) => {
  expect(pathForLog(url)).toBe(path);
});
