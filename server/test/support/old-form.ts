import { createCipheriv, randomBytes } from 'node:crypto';
import type { Database } from '../../src/platform/db/database.ts';
import { keyIdOf } from '../../src/platform/secrets/keyring.ts';

/** Seals as releases before `reseal` did: the secret is not bound to its row. */
export function sealUnbound(key: Buffer, secret: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${keyIdOf(key)}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
}

/** Puts the database in the state of an upgrade that found secrets to reseal. */
export async function allowOldForm(db: Database): Promise<void> {
  await db.query({ name: 'test_allow_old_form', text: 'update sealing set old_form_refused_at = null' });
}

/** Every row of every table, as text. */
export async function everythingStored(db: Database): Promise<string> {
  const tables = await db.query<{ name: string }>({
    name: 'test_tables',
    text: `select table_name as name from information_schema.tables where table_schema = 'public'`,
  });
  const contents = await Promise.all(
    tables.map(({ name }) =>
      db.query({ name: `test_dump_${name}`, text: `select t::text from "${name}" t` }),
    ),
  );
  return JSON.stringify(contents);
}
