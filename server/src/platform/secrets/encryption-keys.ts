import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readOrCreateSecretFile } from './secret-file.ts';

const keyBytes = 32;

function pathIn(dataDir: string): string {
  return join(dataDir, 'encryption-key');
}

/** The deployment's keys. The first one encrypts. */
export async function readEncryptionKeys({
  encryptionKeys,
  dataDir,
}: {
  encryptionKeys: Buffer[] | null;
  dataDir: string;
}): Promise<Buffer[]> {
  return encryptionKeys ?? [await readOrCreateEncryptionKey(dataDir)];
}

/** Like `readEncryptionKeys`, but returns an empty list instead of creating a key. */
export async function findEncryptionKeys(
  config: Parameters<typeof readEncryptionKeys>[0],
): Promise<Buffer[]> {
  if (!config.encryptionKeys && !existsSync(pathIn(config.dataDir))) return [];
  return readEncryptionKeys(config);
}

/** For a deployment without configured keys: generates one and stores it in the data folder. */
export async function readOrCreateEncryptionKey(dataDir: string): Promise<Buffer> {
  const path = pathIn(dataDir);
  const text = await readOrCreateSecretFile(path, () => randomBytes(keyBytes).toString('base64'));
  const key = parseKey(text);
  if (!key) {
    throw new Error(
      `${path} does not contain ${keyBytes} bytes in base64; restore the key, or delete the file to get a new one, which loses all secrets encrypted with the old key`,
    );
  }
  return key;
}

/** Parses base64 keys separated by commas; undefined if any of them is not 32 bytes. */
export function parseEncryptionKeys(text: string): Buffer[] | undefined {
  const keys = text.split(',').map((part) => parseKey(part.trim()));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

/** Strict, because Node ignores invalid base64 characters: a mistyped key would encrypt secrets that no other node can decrypt. */
function parseKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === keyBytes && key.toString('base64') === text ? key : undefined;
}
