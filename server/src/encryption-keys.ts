import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readOrCreateSecretFile } from './read-or-create-secret-file.ts';

const keyBytes = 32;

/** For a deployment that was given no keys: its own, made once and kept in the data folder. */
export async function readOrCreateEncryptionKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'encryption-key');
  const text = await readOrCreateSecretFile(path, () => randomBytes(keyBytes).toString('base64'));
  const key = parseKey(text);
  if (!key) {
    throw new Error(
      `${path} does not hold ${keyBytes} bytes in base64; put the key back, or delete the file to get a new one: secrets that were sealed with the old one are then lost`,
    );
  }
  return key;
}

/** Keys in base64, separated by commas; undefined when any of them is not 32 bytes. */
export function parseEncryptionKeys(text: string): Buffer[] | undefined {
  const keys = text.split(',').map((part) => parseKey(part.trim()));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

/** Strictly: Node reads base64 with anything in it, and a mistyped key that still "works" seals what no other node opens. */
function parseKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === keyBytes && key.toString('base64') === text ? key : undefined;
}
