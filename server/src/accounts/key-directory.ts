import { idPrefixes } from '@simplane/contract';
import type { Caller } from '../context.ts';
import type { Database } from '../db/database.ts';
import { idOfUuid } from '../db/uuid.ts';
import { hexHashOf } from './api-key-text.ts';
import { type FoundKeyRow, findKeyByHash, touchKeys } from './sql.ts';

export type KnownKey = Caller & { expiresAtMs: number | null; revoked: boolean };

export type KeyDirectory = {
  /** At once where it is remembered: a promise for every request would cost more than the look-up. */
  find(key: string): KnownKey | Promise<KnownKey | null>;
  noteUse(key: KnownKey, nowMs: number): void;
  /** Writes `last_used_at` of the keys used since the last call, all in one statement. */
  flushUses(): Promise<void>;
};

type Remembered = { found: KnownKey | Promise<KnownKey | null>; askedAtMs: number };

// A revoked key must stop within 5 s on every node; half of that leaves room for a slow look-up.
const trustedForMs = 2_500;

/** Keys by their hash, remembered for a moment. Only known keys are remembered, so a new one works at once. */
export function createKeyDirectory(
  db: Database,
  monotonicMs: () => number = () => performance.now(),
): KeyDirectory {
  const remembered = new Map<string, Remembered>();
  const uses = new Map<string, number>();

  async function ask(hash: Buffer): Promise<KnownKey | null> {
    const row = await findKeyByHash(db, hash);
    return row && describe(row);
  }

  return {
    find(key) {
      const id = hexHashOf(key);
      const known = remembered.get(id);
      const nowMs = monotonicMs();
      if (known && nowMs - known.askedAtMs < trustedForMs) return known.found;
      const asking = ask(Buffer.from(id, 'hex'));
      const entry: Remembered = { found: asking, askedAtMs: nowMs };
      remembered.set(id, entry);
      const forget = () => remembered.get(id) === entry && remembered.delete(id);
      asking.then((found) => {
        if (found) entry.found = found;
        else forget();
      }, forget);
      return asking;
    },

    noteUse(key, nowMs) {
      uses.set(key.apiKey.uuid, nowMs);
    },

    async flushUses() {
      if (uses.size === 0) return;
      const batch = [...uses].map(([uuid, usedAtMs]) => ({ uuid, usedAt: new Date(usedAtMs) }));
      uses.clear();
      try {
        await touchKeys(db, batch);
      } catch (error) {
        for (const { uuid, usedAt } of batch) if (!uses.has(uuid)) uses.set(uuid, usedAt.getTime());
        throw error;
      }
    },
  };
}

function describe(row: FoundKeyRow): KnownKey {
  return {
    account: {
      id: idOfUuid(idPrefixes.account, row.account_id),
      uuid: row.account_id,
      name: row.account_name,
      apiVersion: row.api_version,
    },
    apiKey: {
      id: idOfUuid(idPrefixes.apiKey, row.id),
      uuid: row.id,
      name: row.name,
      scopes: row.scopes,
      last4: row.last4,
      createdAt: row.created_at,
    },
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revoked: row.revoked_at !== null,
  };
}
