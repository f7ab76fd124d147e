import { idPrefixes } from '@simplane/contract';
import { requireCidr } from '../platform/addresses/in-networks.ts';
import type { Cidr } from '../platform/addresses/parse-address.ts';
import type { Database } from '../platform/db/database.ts';
import { createGroupCommit } from '../platform/db/group-commit.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import type { Account, ApiKey } from './context.ts';
import { describeAccount } from './find.ts';
import { type FoundKeyRow, findKeysByHash, listNewHashes, listUsableHashes, touchKeys } from './sql/keys.ts';

/** `account` is null for an operator's key. */
export type KnownKey = {
  account: Account | null;
  apiKey: ApiKey;
  expiresAtMs: number | null;
  revoked: boolean;
  /** Networks it may be used from. Empty: from anywhere. */
  allowedCidrs: readonly Cidr[];
};

export type KeyDirectory = {
  /**
   * Returns the cached key with this hash, null if it recently did not exist, or undefined if it must be looked up.
   * Synchronous if cached, because a promise per request would cost more than the lookup.
   */
  recall(hash: string): KnownKey | null | undefined | Promise<KnownKey | null>;
  /** Queries the database. */
  lookUp(hash: string): Promise<KnownKey | null>;
  /**
   * Loads the existing keys, so that their first requests do not count as unknown keys. Later calls load only the keys created
   * since the last one.
   */
  learn(nowMs: number): Promise<void>;
  noteUse(key: KnownKey, nowMs: number): void;
  /** Writes `last_used_at` of the keys used since the last call, all in one statement. */
  flushUses(): Promise<void>;
};

type Entry = { found: KnownKey | null; asking: Promise<KnownKey | null> | null; askedAtMs: number };

// A revoked key must stop working within 5 s on every node. Half of that leaves time for a slow lookup.
const trustedForMs = 2_500;

// How long "not found" is cached: a key tried before it existed works at most this much later.
const refusedForMs = 1_000;

// A key's id contains its creation time, by the clock of the process that created it.
const maxClockSkewMs = 600_000;

const maxKnown = 50_000;
const maxNew = 1_000;
const maxUnknown = 10_000;

/**
 * Caches keys, and hashes that match no key, for a short time. Concurrent lookups share a query, so any number of unknown keys
 * takes at most two connections.
 */
export function createKeyDirectory(
  db: Database,
  monotonicMs: () => number = () => performance.now(),
): KeyDirectory {
  const known = new Map<string, Entry>(); // keys that exist, or did when they were last looked up
  const unknown = new Map<string, Entry>(); // separate, so that they never evict a known key
  const uses = new Map<string, number>();
  let learnedAtMs: number | null = null;
  const find = { write: (hashes: string[]) => findKeysByHash(db, hashes) };
  // Separate batches, so that known keys do not wait behind unknown ones.
  const findKnown = createGroupCommit(find);
  const findUnknown = createGroupCommit(find);

  function ask(hash: string, isKnown: boolean): Promise<KnownKey | null> {
    const entry = known.get(hash) ?? unknown.get(hash) ?? { found: null, asking: null, askedAtMs: 0 };
    const asking = (isKnown ? findKnown : findUnknown)(hash).then((row) => row && describe(row));
    entry.asking = asking;
    entry.askedAtMs = monotonicMs();
    if (!isKnown) keep(unknown, hash, entry, maxUnknown);
    const settle = (found: KnownKey | null | undefined) => {
      if (entry.asking !== asking) return; // a later lookup has replaced it
      entry.asking = null;
      if (found === undefined) {
        entry.askedAtMs = Number.NEGATIVE_INFINITY; // the lookup failed
        return;
      }
      entry.found = found;
      if (found) {
        unknown.delete(hash);
        keep(known, hash, entry, maxKnown);
      } else {
        known.delete(hash);
        keep(unknown, hash, entry, maxUnknown);
      }
    };
    asking.then(settle, () => settle(undefined));
    return asking;
  }

  return {
    recall(hash) {
      const entry = known.get(hash);
      if (!entry) return recallUnknown(unknown.get(hash));
      if (monotonicMs() - entry.askedAtMs >= trustedForMs) return ask(hash, true);
      return entry.asking ?? entry.found;
    },

    lookUp: (hash) => ask(hash, false),

    async learn(nowMs) {
      const hashes =
        learnedAtMs === null
          ? await listUsableHashes(db, { nowMs, limit: maxKnown })
          : await listNewHashes(db, { sinceMs: learnedAtMs - maxClockSkewMs, nowMs, limit: maxNew });
      learnedAtMs = nowMs;
      for (const hash of hashes.reverse()) {
        if (known.has(hash)) continue;
        keep(known, hash, { found: null, asking: null, askedAtMs: Number.NEGATIVE_INFINITY }, maxKnown);
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

  function recallUnknown(entry: Entry | undefined) {
    if (!entry) return undefined;
    const ageMs = monotonicMs() - entry.askedAtMs;
    if (entry.asking) return ageMs < trustedForMs ? entry.asking : undefined;
    return ageMs < refusedForMs ? entry.found : undefined;
  }
}

/** Evicts the least recently looked-up entry if the map is full. */
function keep(entries: Map<string, Entry>, hash: string, entry: Entry, limit: number): void {
  entries.delete(hash);
  if (entries.size >= limit) entries.delete(entries.keys().next().value as string);
  entries.set(hash, entry);
}

function describe(row: FoundKeyRow): KnownKey {
  return {
    account: row.account && describeAccount(row.account),
    apiKey: {
      id: idOfUuid(idPrefixes.apiKey, row.id),
      uuid: row.id,
      name: row.name,
      scopes: row.scopes,
      last4: row.last4,
      createdAt: row.created_at,
    },
    expiresAtMs: row.expires_at?.getTime() ?? null,
    // Also a key that was created while the account was being closed.
    revoked: row.revoked_at !== null || row.account?.closed_at != null,
    allowedCidrs: row.allowed_cidrs.map(requireCidr),
  };
}
