import { idPrefixes } from '@simplane/contract';
import type { Caller } from '../context.ts';
import type { Database } from '../db/database.ts';
import { createGroupCommit } from '../db/group-commit.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { type FoundKeyRow, findKeysByHash, listNewHashes, listUsableHashes, touchKeys } from './sql.ts';

export type KnownKey = Caller & { expiresAtMs: number | null; revoked: boolean };

export type KeyDirectory = {
  /**
   * What is known of the key with this hash: the key, null if there was none a moment ago, undefined if it must be looked up.
   * At once where it is remembered: a promise for every request would cost more than the look-up.
   */
  recall(hash: string): KnownKey | null | undefined | Promise<KnownKey | null>;
  /** Asks the database. */
  lookUp(hash: string): Promise<KnownKey | null>;
  /**
   * Learns which keys exist, so that their first requests are not taken for those of strangers. Called again, it learns those that
   * were made since.
   */
  learn(nowMs: number): Promise<void>;
  noteUse(key: KnownKey, nowMs: number): void;
  /** Writes `last_used_at` of the keys used since the last call, all in one statement. */
  flushUses(): Promise<void>;
};

type Entry = { found: KnownKey | null; asking: Promise<KnownKey | null> | null; askedAtMs: number };

// A revoked key must stop within 5 s on every node; half of that leaves room for a slow look-up.
const trustedForMs = 2_500;

// A key that is used before it was made works this much later.
const refusedForMs = 1_000;

// Ids of keys tell when they were made, by the clock of whoever made them.
const clocksDifferByMs = 600_000;

const mostKnown = 50_000;
const mostNew = 1_000;
const mostStrangers = 10_000;

/**
 * Keys by their hash, remembered for a moment, and so are texts that are no key. Look-ups that come while one is under way are
 * made together, so any number of unknown keys takes two connections at most.
 */
export function createKeyDirectory(
  db: Database,
  monotonicMs: () => number = () => performance.now(),
): KeyDirectory {
  const known = new Map<string, Entry>(); // keys that exist, or did when they were last looked up
  const strangers = new Map<string, Entry>(); // apart, so that no number of them displaces a key
  const uses = new Map<string, number>();
  let learnedAtMs: number | null = null;
  const find = { write: (hashes: string[]) => findKeysByHash(db, hashes) };
  // Two lines, so that a key in use does not stand behind strangers.
  const askKnown = createGroupCommit(find);
  const askStranger = createGroupCommit(find);

  function ask(hash: string, isKnown: boolean): Promise<KnownKey | null> {
    const entry = known.get(hash) ?? strangers.get(hash) ?? { found: null, asking: null, askedAtMs: 0 };
    const asking = (isKnown ? askKnown : askStranger)(hash).then((row) => row && describe(row));
    entry.asking = asking;
    entry.askedAtMs = monotonicMs();
    if (!isKnown) keep(strangers, hash, entry, mostStrangers);
    const settle = (found: KnownKey | null | undefined) => {
      if (entry.asking !== asking) return; // a later look-up knows better
      entry.asking = null;
      if (found === undefined) {
        entry.askedAtMs = Number.NEGATIVE_INFINITY; // it failed, and says nothing
        return;
      }
      entry.found = found;
      if (found) {
        strangers.delete(hash);
        keep(known, hash, entry, mostKnown);
      } else {
        known.delete(hash);
        keep(strangers, hash, entry, mostStrangers);
      }
    };
    asking.then(settle, () => settle(undefined));
    return asking;
  }

  return {
    recall(hash) {
      const entry = known.get(hash);
      if (!entry) return recallStranger(strangers.get(hash));
      if (monotonicMs() - entry.askedAtMs >= trustedForMs) return ask(hash, true);
      return entry.asking ?? entry.found;
    },

    lookUp: (hash) => ask(hash, false),

    async learn(nowMs) {
      const hashes =
        learnedAtMs === null
          ? await listUsableHashes(db, { nowMs, limit: mostKnown })
          : await listNewHashes(db, { sinceMs: learnedAtMs - clocksDifferByMs, nowMs, limit: mostNew });
      learnedAtMs = nowMs;
      for (const hash of hashes.reverse()) {
        if (known.has(hash)) continue;
        keep(known, hash, { found: null, asking: null, askedAtMs: Number.NEGATIVE_INFINITY }, mostKnown);
      }
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

  function recallStranger(entry: Entry | undefined) {
    if (!entry) return undefined;
    const ageMs = monotonicMs() - entry.askedAtMs;
    if (entry.asking) return ageMs < trustedForMs ? entry.asking : undefined;
    return ageMs < refusedForMs ? entry.found : undefined;
  }
}

/** What was kept longest ago is forgotten first; keys are kept again whenever they are looked up. */
function keep(entries: Map<string, Entry>, hash: string, entry: Entry, most: number): void {
  entries.delete(hash);
  if (entries.size >= most) entries.delete(entries.keys().next().value as string);
  entries.set(hash, entry);
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
