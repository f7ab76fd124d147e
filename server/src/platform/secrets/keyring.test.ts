import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyring, keyIdOf } from './keyring.ts';
import type { Place } from './sealed-places.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const text = 'whsec_é😀 and more';
const place: Place = { accountUuid: 'a1', table: 'webhook_secrets', row: 'r1', purpose: 'signing_secret' };
const plainPlace: Place = { ...place, table: 'esims', purpose: 'matching_id', wasPlain: true };

/** The format of the previous release. */
function sealUnbound(key: Buffer, secret: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${keyIdOf(key)}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
}

describe('sealing', () => {
  test('a sealed value opens to the same text, and no two sealed values are equal', async () => {
    const keyring = createKeyring([oldKey]);
    const [a, b] = [keyring.seal(text, place), keyring.seal(text, place)];
    expect(a).not.toBe(b);
    for (const sealed of [a, b]) expect(await keyring.open(sealed, place)).toBe(text);
    expect(await keyring.open(keyring.seal('', place), place)).toBe('');
    expect(a).not.toContain('whsec');
  });

  test('a sealed value does not open in another account, table or row, or for another purpose', async () => {
    const keyring = createKeyring([oldKey], { isOldFormRefused: async () => false });
    const sealed = keyring.seal(text, place);
    for (const part of ['accountUuid', 'table', 'row', 'purpose'] as const) {
      const other = { ...place, [part]: `${place[part]}x` };
      await expect(keyring.open(sealed, other)).rejects.toThrow('or copied from another row');
    }
    // The boundaries between the parts are authenticated too.
    const shifted = { ...place, accountUuid: 'a1","webhook_secrets', table: 'r1' };
    await expect(keyring.open(sealed, shifted)).rejects.toThrow('cannot be decrypted');
    // Without its version it looks like the old format, which is not bound to a place.
    await expect(keyring.open(sealed.slice('v2.'.length), place)).rejects.toThrow('cannot be decrypted');
  });

  test('a sealed value with any changed character does not open', async () => {
    const keyring = createKeyring([oldKey], { isOldFormRefused: async () => false });
    const sealed = keyring.seal(text, place);
    for (let at = 0; at < sealed.length - 1; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      await expect(keyring.open(sealed.slice(0, at) + other + sealed.slice(at + 1), place)).rejects.toThrow();
    }
  });

  test('a truncated sealed value does not open', async () => {
    const keyring = createKeyring([oldKey]);
    for (const sealed of [keyring.seal('', place), keyring.seal(text, place)]) {
      for (let length = 0; length < sealed.length - 1; length++) {
        await expect(keyring.open(sealed.slice(0, length), place)).rejects.toThrow();
      }
    }
  });

  test('unsealed text does not open, and the error does not repeat it', async () => {
    const keyring = createKeyring([oldKey], { isOldFormRefused: async () => false });
    const error = await keyring.open('whsec_plain', place).catch((reason: Error) => reason);
    expect(String(error)).toContain('signing_secret in webhook_secrets');
    expect(String(error)).not.toContain('whsec');
  });
});

describe('the old format', () => {
  test('is readable until it is refused', async () => {
    let isRefused = false;
    const keyring = createKeyring([newKey, oldKey], { isOldFormRefused: async () => isRefused });
    const sealed = sealUnbound(oldKey, text);
    expect(await keyring.open(sealed, place)).toBe(text);
    expect(await keyring.open('K2-1B3D-9XY', plainPlace)).toBe('K2-1B3D-9XY');
    isRefused = true;
    await expect(keyring.open(sealed, place)).rejects.toThrow('refused since `reseal` completed');
    await expect(keyring.open('K2-1B3D-9XY', plainPlace)).rejects.toThrow('refused since');
  });

  test('is refused by default', async () => {
    await expect(createKeyring([oldKey]).open(sealUnbound(oldKey, text), place)).rejects.toThrow('refused');
  });
});

describe('rotation', () => {
  test('the first key seals, and later keys still open', async () => {
    const before = createKeyring([oldKey]);
    const during = createKeyring([newKey, oldKey]);
    const after = createKeyring([newKey]);
    const sealedBefore = before.seal(text, place);
    expect(await during.open(sealedBefore, place)).toBe(text);
    const sealedDuring = during.seal(text, place);
    expect(await after.open(sealedDuring, place)).toBe(text);
    await expect(before.open(sealedDuring, place)).rejects.toThrow(keyIdOf(newKey));
  });

  test('an error names a removed key by its id, and an empty keyring is refused', async () => {
    const sealed = createKeyring([oldKey]).seal(text, place);
    await expect(createKeyring([newKey]).open(sealed, place)).rejects.toThrow(
      `encrypted with key ${keyIdOf(oldKey)}, cannot be decrypted: that key is not in SIMPLANE_ENCRYPTION_KEYS`,
    );
    expect(() => createKeyring([])).toThrow('at least one key');
  });
});
