import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** For secrets at rest: the first key seals, every key opens, so keys are rotated by putting a new one in front. */
export type Keyring = { seal(text: string): string; open(sealed: string): string };

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** `sealed` is `<key id>.<base64url of iv, tag, ciphertext>`; the id finds the key without trying them all. */
export function createKeyring(keys: Buffer[]): Keyring {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [first] = keys;
  if (!first) throw new Error('a keyring needs at least one key');
  const firstId = idOf(first);

  return {
    seal(text) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, first, iv, { authTagLength: tagBytes });
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${firstId}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
    },

    open(sealed) {
      const [id = '', body = ''] = sealed.split('.');
      const key = byId.get(id);
      if (!key)
        throw new Error(
          `no encryption key ${clipId(id)}: it was removed from SIMPLANE_ENCRYPTION_KEYS too early`,
        );
      const bytes = Buffer.from(body, 'base64url');
      // With its length fixed, a tag that was cut short is refused: four bytes of it could be guessed.
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return text.toString('utf8');
    },
  };
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/** What was never sealed has no id in front, and may be the secret itself: an error must not repeat it. */
function clipId(id: string): string {
  return /^[0-9a-f]{8}$/.test(id) ? id : '(none named)';
}
