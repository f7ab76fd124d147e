import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { AppError } from '../app-error.ts';
import { describeMissingKeys, refuseSealing } from './claim-sealing-key.ts';
import { createKeyring } from './keyring.ts';
import { signingSecretPlace } from './sealed-places.ts';

const place = signingSecretPlace('a', 'b', 'c');

test('a process without a key that secrets need opens what it can, seals nothing, and asks to be tried again', async () => {
  const keyring = createKeyring([randomBytes(32)]);
  const limited = refuseSealing(keyring, ['0000000a']);
  expect(await limited.open(keyring.seal('a secret', place), place)).toBe('a secret');
  let refused: unknown;
  try {
    limited.seal('a secret', place);
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(AppError);
  expect(refused).toMatchObject({
    ...{ code: 'unavailable', status: 503, headers: { 'Retry-After': '1' } },
    // The client is not told which key; the log is.
    message: expect.not.stringContaining('0000000a'),
    cause: { message: describeMissingKeys(['0000000a']) },
  });
});

test('all missing keys are named, and the command that gives up the first', () => {
  expect(describeMissingKeys(['0000000a', '0000000b'])).toMatch(
    /need encryption keys 0000000a, 0000000b, which are not in .* `simplane-server reseal --lost-key 0000000a`$/,
  );
  expect(describeMissingKeys(['0000000a'])).toMatch(/need encryption key 0000000a, which is not in /);
});
