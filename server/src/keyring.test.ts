import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyring } from './keyring.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const text = 'whsec_é😀 and more';

describe('sealing', () => {
  test('what was sealed opens to the same text, and no two sealings are alike', () => {
    const keyring = createKeyring([oldKey]);
    const [a, b] = [keyring.seal(text), keyring.seal(text)];
    expect(a).not.toBe(b);
    expect([keyring.open(a), keyring.open(b), keyring.open(keyring.seal(''))]).toEqual([text, text, '']);
    expect(a).not.toContain('whsec');
  });

  test('a changed character anywhere in it does not open', () => {
    const keyring = createKeyring([oldKey]);
    const sealed = keyring.seal(text);
    for (let at = 0; at < sealed.length - 1; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(() => keyring.open(sealed.slice(0, at) + other + sealed.slice(at + 1))).toThrow();
    }
  });

  test('no beginning of it opens: a tag that is cut short is refused', () => {
    const keyring = createKeyring([oldKey]);
    for (const sealed of [keyring.seal(''), keyring.seal(text)]) {
      for (let length = 0; length < sealed.length - 1; length++) {
        expect(() => keyring.open(sealed.slice(0, length))).toThrow();
      }
    }
  });

  test('text that was never sealed does not open, and the error does not repeat it', () => {
    const open = () => createKeyring([oldKey]).open('whsec_plain');
    expect(open).toThrow(/no encryption key/);
    expect(open).not.toThrow(/whsec/);
  });
});

describe('rotation', () => {
  test('the first key seals, and a key behind it still opens', () => {
    const before = createKeyring([oldKey]);
    const during = createKeyring([newKey, oldKey]);
    const after = createKeyring([newKey]);
    const sealedBefore = before.seal(text);
    expect(during.open(sealedBefore)).toBe(text);
    const sealedDuring = during.seal(text);
    expect(after.open(sealedDuring)).toBe(text);
    expect(() => before.open(sealedDuring)).toThrow(/no encryption key [0-9a-f]{8}/);
  });

  test('a key that was removed is named by its id, and a ring without keys is refused', () => {
    const sealed = createKeyring([oldKey]).seal(text);
    const [id] = sealed.split('.');
    expect(() => createKeyring([newKey]).open(sealed)).toThrow(
      `no encryption key ${id}: it was removed from SIMPLANE_ENCRYPTION_KEYS too early`,
    );
    expect(() => createKeyring([])).toThrow('at least one key');
  });
});
