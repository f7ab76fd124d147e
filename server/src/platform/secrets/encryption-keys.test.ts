import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findEncryptionKeys, parseEncryptionKeys, readOrCreateEncryptionKey } from './encryption-keys.ts';
import { readOrCreateSecretFile } from './secret-file.ts';

describe('the encryption keys setting', () => {
  test('accepts one or several keys and keeps their order', () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    expect(parseEncryptionKeys(a.toString('base64'))).toEqual([a]);
    expect(parseEncryptionKeys(`${a.toString('base64')}, ${b.toString('base64')}`)).toEqual([a, b]);
  });

  test.each([
    ['an empty value', ''],
    ['31 bytes', randomBytes(31).toString('base64')],
    ['33 bytes', randomBytes(33).toString('base64')],
    ['hexadecimal', randomBytes(32).toString('hex')],
    ['a stray character', `${randomBytes(32).toString('base64')}!`],
    [
      'a space inside',
      `${randomBytes(32)
        .toString('base64')
        .replace(/^(.{10})/, '$1 ')}`,
    ],
    ['extra bits at the end', `${'A'.repeat(42)}B=`],
    ['a trailing comma', `${randomBytes(32).toString('base64')},`],
    ['one invalid key of several', `${randomBytes(32).toString('base64')},abc`],
  ])('refuses %s', (_, text) => {
    expect(parseEncryptionKeys(text)).toBeUndefined();
  });
});

describe('the encryption key file', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'simplane-keys-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  test('is created once, readable by its owner only, along with its folder', async () => {
    const folder = join(dataDir, 'not', 'yet');
    const key = await readOrCreateEncryptionKey(folder);
    expect(key).toHaveLength(32);
    expect(await readOrCreateEncryptionKey(folder)).toEqual(key);
    expect((await stat(join(folder, 'encryption-key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'encryption-key'), 'utf8')).toBe(`${key.toString('base64')}\n`);
  });

  test('is not created by a look at the keys that there are', async () => {
    const found = () => findEncryptionKeys({ encryptionKeys: null, dataDir });
    expect([await found(), await readdir(dataDir)]).toEqual([[], []]);
    const key = await readOrCreateEncryptionKey(dataDir);
    expect(await found()).toEqual([key]);
  });

  test('is the same for ten concurrent first starts, which leave no other files', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => readOrCreateEncryptionKey(dataDir)));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['encryption-key']);
  });

  test('that another first start creates meanwhile is used, and not replaced', async () => {
    const path = join(dataDir, 'secret');
    const secret = await readOrCreateSecretFile(path, () => {
      writeFileSync(path, 'theirs\n');
      return 'ours';
    });
    expect([secret, await readFile(path, 'utf8')]).toEqual(['theirs', 'theirs\n']);
  });

  test('is rejected and left unchanged if its content is invalid', async () => {
    const path = join(dataDir, 'encryption-key');
    await writeFile(path, 'half a k');
    await expect(readOrCreateEncryptionKey(dataDir)).rejects.toThrow(
      `${path} does not contain 32 bytes in base64`,
    );
    expect(await readFile(path, 'utf8')).toBe('half a k');
  });
});
