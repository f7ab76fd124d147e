import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readOrCreateSecretFile } from './secret-file.ts';

const keyBytes = 32;

function pathIn(dataDir: string): string {
  return join(dataDir, 'encryption-key');
}

/** The deployment's keys, the one that seals first. */
export async function readEncryptionKeys({
  encryptionKeys,
  dataDir,
}: {
  encryptionKeys: Buffer[] | null;
  dataDir: string;
}): Promise<Buffer[]> {
  return encryptionKeys ?? [await readOrCreateEncryptionKey(dataDir)];
}

/** The same without making one: none when there is none yet. */
export async function findEncryptionKeys(
  config: Parameters<typeof readEncryptionKeys>[0],
): Promise<Buffer[]> {
  if (!config.encryptionKeys && !existsSync(pathIn(config.dataDir))) return [];
  return readEncryptionKeys(config);
}

/** For a deployment that was given no keys: its own, made once and kept in the data folder. */
export async function readOrCreateEncryptionKey(dataDir: string): Promise<Buffer> {
  const path = pathIn(dataDir);
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
