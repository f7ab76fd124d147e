import { expect, test } from 'vitest';
import type { Keyring } from '../../../platform/secrets/keyring.ts';
import { createSigningKeys } from './sign.ts';

test('the keys of the 1,000 endpoints that were opened last stay in memory', async () => {
  let opened = 0;
  const open = async () => {
    opened += 1;
    return 'whsec_c2VjcmV0';
  };
  const signingKeys = createSigningKeys({ open } as unknown as Keyring);
  const keysOf = (n: number) =>
    signingKeys({ account_id: 'account', endpoint_id: `endpoint-${n}`, secrets: 'id:sealed' });
  for (let n = 0; n <= 1_000; n++) await keysOf(n);
  await keysOf(1_000);
  expect(opened).toBe(1_001);
  await keysOf(0);
  expect(opened).toBe(1_002);
});
