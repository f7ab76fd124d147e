import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../ids/uuid.ts';
import { readEncryptionKeys } from '../secrets/encryption-keys.ts';
import { createKeyring } from '../secrets/keyring.ts';
import { createOldFormCheck } from '../secrets/old-form.ts';
import { type ResealResult, reseal, type Unreadable } from '../secrets/reseal.ts';
import { clip } from '../telemetry/clip.ts';
import { print } from './print.ts';
import type { Tools } from './with-database.ts';

/** Prints what was sealed anew; the exit code is 1 when something is left that is not sealed with the first key. */
export async function resealCommand({ db, config }: Tools, options: { json: boolean }): Promise<number> {
  // Asked once: while this runs it becomes true only when nothing in an earlier form is left.
  const isOldFormRefused = await createOldFormCheck(db)();
  const keyring = createKeyring(await readEncryptionKeys(config), {
    isOldFormRefused: async () => isOldFormRefused,
  });
  const result = await reseal({
    db,
    keyring,
    onProgress: ({ id }, count) => say(`${id}: ${count} sealed anew so far`),
  });
  if (options.json) process.stdout.write(`${JSON.stringify(present(result, keyring.keyId), null, 2)}\n`);
  else {
    print(
      result.resealed.map(({ column, table, count }) => ({ secrets: column, table, sealed_anew: count })),
      options,
    );
  }
  for (const one of result.unreadable) say(`cannot be opened: ${describe(one)}`);
  if (result.unreadableCount > result.unreadable.length)
    say(`… and ${result.unreadableCount - result.unreadable.length} more`);
  say(verdictOn(result, keyring.keyId));
  return result.isComplete && result.unreadableCount === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function verdictOn({ isComplete, unreadableCount }: ResealResult, keyId: string): string {
  if (!isComplete) return 'some rows were in use all the time: run `reseal` again';
  if (unreadableCount > 0)
    return `${unreadableCount} secrets cannot be opened: put the keys that they name back into SIMPLANE_ENCRYPTION_KEYS behind the first and run \`reseal\` again; a webhook endpoint’s secret can be rotated instead`;
  return `everything is sealed with the key ${keyId}; the other keys may be removed from SIMPLANE_ENCRYPTION_KEYS`;
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
