import { expect, test } from 'vitest';
import { inToolTerms } from '../src/tool-terms.ts';

test.each([
  ['GET /v1/esims/8999901000000000018', 'get_esim'],
  ['GET /v1/esims/8999901000000000018/install', 'get_install_profile'],
  ['GET /v1/esims/8999901000000000018/timeline', 'GET /v1/esims/8999901000000000018/timeline'],
  ['DELETE /v1/esims/8999901000000000018', 'DELETE /v1/esims/8999901000000000018'],
])('“%s” of a message is %s for an agent: no tool does what only sounds like its own', (call, named) => {
  expect(inToolTerms(`To see why, call ${call}.`)).toBe(`To see why, call ${named}.`);
});
