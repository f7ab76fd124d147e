import { idPrefixes } from '@simplane/contract';
import { recordAudit } from '../accounts/audit/record.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { readEncryptionKeys } from '../platform/secrets/encryption-keys.ts';
import { createKeyring, keyIdOf } from '../platform/secrets/keyring.ts';
import { createOldFormCheck } from '../platform/secrets/old-form.ts';
import { type ResealResult, reseal, type Unreadable } from '../platform/secrets/reseal.ts';
import { forgetSealingKey } from '../platform/secrets/sql.ts';
import { clip } from '../platform/telemetry/clip.ts';
import { CommandError } from './command-error.ts';
import { print, printJson } from './print.ts';
import type { Tools } from './with-database.ts';

/** Re-encrypts all secrets and prints the counts. The exit code is 1 if any secret is not encrypted with the first key. */
export async function resealCommand(
  tools: Tools,
  options: { json: boolean; lostKey?: string },
): Promise<number> {
  const { db, config } = tools;
  // Read once: during this command it can become true only after the last secret in the old format is gone.
  const isOldFormRefused = await createOldFormCheck(db)();
  const keys = await readEncryptionKeys(config);
  const keyring = createKeyring(keys, { isOldFormRefused: async () => isOldFormRefused });
  await db.transaction(async (tx) => {
    if (options.lostKey !== undefined) await giveUpKey(tx, keys, options.lostKey);
    await recordStart(tx, tools, { key_id: keyring.keyId, lost_key_id: options.lostKey });
  });
  if (options.lostKey !== undefined) {
    say(`key ${options.lostKey} is no longer expected; restart the processes that are not ready`);
  }
  const result = await reseal({
    db,
    keyring,
    onProgress: ({ id }, count) => say(`${id}: ${count} re-encrypted so far`),
  });
  if (options.json) printJson(present(result, keyring.keyId));
  else {
    print(
      result.resealed.map(({ column, table, count }) => ({ secrets: column, table, sealed_anew: count })),
      options,
    );
  }
  for (const one of result.unreadable) say(`cannot be decrypted: ${describe(one)}`);
  if (result.unreadableCount > result.unreadable.length)
    say(`… and ${result.unreadableCount - result.unreadable.length} more`);
  say(summarize(result, keyring.keyId));
  return result.isComplete && result.unreadableCount === 0 ? 0 : 1;
}

/** Processes become ready without the key again. What only it can decrypt stays as it is and is listed. */
async function giveUpKey(db: Queryable, keys: Buffer[], id: string): Promise<void> {
  if (keys.some((key) => keyIdOf(key) === id)) {
    throw new CommandError(`--lost-key ${clip(id, 20)}: this key is configured, so it is not lost`);
  }
  if (!(await forgetSealingKey(db, id))) {
    throw new CommandError(
      `--lost-key ${clip(id, 20)}: no stored secret needs such a key; \`doctor\` names those that are missing`,
    );
  }
}

/** Before the work, which is many transactions: none of them is without an entry. */
function recordStart(
  tx: Queryable,
  tools: Tools,
  changes: Record<string, string | undefined>,
): Promise<void> {
  return recordAudit(tx, tools, {
    accountUuid: null,
    action: 'secrets.reseal_started',
    target: { type: 'deployment', id: 'secrets' },
    changes,
  });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function summarize({ isComplete, unreadableCount }: ResealResult, keyId: string): string {
  if (!isComplete) return 'some rows were locked throughout: run `reseal` again';
  if (unreadableCount > 0)
    return `${unreadableCount} secrets cannot be decrypted: add the keys named above to SIMPLANE_ENCRYPTION_KEYS after the first, then run \`reseal\` again; a webhook endpoint’s secret can be rotated instead`;
  return `all secrets are encrypted with key ${keyId}; the other keys may be removed from SIMPLANE_ENCRYPTION_KEYS`;
}

function describe({ table, account, row, why }: Unreadable): string {
  return `${table} ${clip(row, 80)} of ${idOfUuid(idPrefixes.account, account)}, ${why}`;
}

function present({ resealed, unreadable, unreadableCount, isComplete }: ResealResult, keyId: string) {
  return {
    key_id: keyId,
    complete: isComplete && unreadableCount === 0,
    sealed_anew: Object.fromEntries(resealed.map(({ column, count }) => [column, count])),
    unreadable_count: unreadableCount,
    unreadable: unreadable.map(({ table, account, row, why }) => ({
      table,
      account: idOfUuid(idPrefixes.account, account),
      row: clip(row, 80),
      why,
    })),
  };
}
