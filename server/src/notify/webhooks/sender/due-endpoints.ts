import { lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import type { Parts } from './parts.ts';
import { findEndpoints, findEndpointsDue, type KnownEndpoint } from './sql/leases.ts';

type Deps = Pick<Parts, 'db' | 'clock' | 'holder' | 'lanes' | 'claims' | 'ready' | 'wake'>;

// Fallback scan. Costs 30 ms with 1,000 backlogs, so it runs rarely.
export const scanIntervalMs = 2_000;
const lookUpIntervalMs = 200;
// A woken account's deliveries are this new, unless another machine's clock is further behind; the scan finds those.
const wokenWithinMs = 10_000;

export type DueEndpoints = ReturnType<typeof createDueEndpoints>;

/** What waits: notices endpoints with due deliveries, by signals and, for those that were missed, by a scan. */
export function createDueEndpoints({ db, clock, holder, lanes, claims, ready, wake }: Deps) {
  const wokenAccounts = new Set<string>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;

  function addAll(endpoints: KnownEndpoint[], sinceUuid: string | null): void {
    for (const { endpointUuid, accountUuid, standing } of endpoints) {
      lanes.learn(endpointUuid, standing);
      if (sinceUuid === null) claims.restart(endpointUuid);
      else claims.lookFrom(endpointUuid, sinceUuid);
      ready.add(endpointUuid, accountUuid);
    }
    if (ready.hasProven()) wake.proven();
  }

  async function scan(): Promise<void> {
    lanes.forgetIdle();
    claims.forgetIdle();
    const before = ready.unproven();
    const due = await findEndpointsDue(db, holder);
    // Drop endpoints with nothing due (deleted, disabled, sent by others), so they don't consume the rate limit.
    const stillDue = new Set(due.map(({ endpointUuid }) => endpointUuid));
    for (const endpointUuid of before) if (!stillDue.has(endpointUuid)) ready.dropUnproven(endpointUuid);
    addAll(due, null);
  }

  async function lookUpWoken(): Promise<void> {
    const accountUuids = [...wokenAccounts];
    wokenAccounts.clear();
    const sinceUuid = lowestUuidAt(clock.nowMs() - wokenWithinMs);
    addAll(await findEndpoints(db, { accountUuids, holder, sinceUuid }), sinceUuid);
  }

  return {
    /** The account has new deliveries. Endpoints with recent ones are claimed immediately; the others are looked up first. */
    wakeAccount(accountUuid: string): void {
      wokenAccounts.add(accountUuid);
      for (const endpointUuid of lanes.busyOf(accountUuid)) {
        if (!claims.isRefused(endpointUuid)) ready.add(endpointUuid, accountUuid);
      }
      wake.proven();
    },
    /** The next `find` looks at all endpoints. */
    scanNext(): void {
      scannedAtMs = Number.NEGATIVE_INFINITY;
    },
    /** Finds the endpoints that are ready, if it is time to look. */
    async find(): Promise<void> {
      const nowMs = performance.now();
      if (nowMs - scannedAtMs >= scanIntervalMs) {
        scannedAtMs = nowMs;
        await scan();
      }
      if (wokenAccounts.size === 0 || nowMs - lookedUpAtMs < lookUpIntervalMs) return;
      lookedUpAtMs = nowMs;
      await lookUpWoken();
    },
    /** Looks again if accounts wait for it. */
    findLater(): void {
      if (wokenAccounts.size > 0) setTimeout(wake.unproven, lookUpIntervalMs).unref();
    },
  };
}
