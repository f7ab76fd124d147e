import type { CoreResync } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { OperatorContext } from '../../accounts/context.ts';
import type { CoreMode } from '../../network/core-mode.ts';
import { AppError } from '../../platform/app-error.ts';
import { unixSeconds } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import {
  advanceResync,
  countPending,
  lockNextEsims,
  lockResync,
  queueAgain,
  type ResyncRow,
  restartResync,
} from './resync-sql.ts';
import { writeServiceOf } from './write.ts';

type Deps = TimeAndIds & { core: CoreMode };

// Small, so that a batch does not lock its eSIMs for long.
const batchSize = 200;
// More would delay what changes meanwhile, of the same account.
const maxPending = 1_000;

/** Requests that every state is sent again. */
export async function resyncCore(tx: Queryable, ctx: OperatorContext) {
  return { body: await requestResync(tx, ctx), changes: null };
}

export async function requestResync(
  tx: Queryable,
  author: Parameters<typeof recordAudit>[1] & Deps,
): Promise<CoreResync> {
  if (author.core !== 'state') {
    throw new AppError(
      'core_not_connected',
      'No core gets the state of eSIMs: set SIMPLANE_CORE_URL and SIMPLANE_CORE_SECRET, and SIMPLANE_CORE_COMMANDS=set_service.',
    );
  }
  await recordAudit(tx, author, {
    accountUuid: null,
    action: 'core.resync_started',
    target: { type: 'deployment', id: 'core' },
  });
  return present(await restartResync(tx, new Date(author.clock.nowMs())));
}

function present({ started_at, esims, finished_at }: ResyncRow): CoreResync {
  return {
    object: 'core_resync',
    created: unixSeconds(started_at),
    esims,
    finished_at: finished_at && unixSeconds(finished_at),
  };
}

/** Goes on with a resync, as long as the queue has room. Any process may: each batch commits with the place that it has reached. */
export async function continueResync(db: Database, deps: Deps, stopping?: AbortSignal): Promise<void> {
  while (!stopping?.aborted && (await db.transaction((tx) => resyncBatch(tx, deps)))) {}
}

async function resyncBatch(tx: Queryable, deps: Deps): Promise<boolean> {
  const resync = await lockResync(tx);
  if (!resync) return false;
  if (deps.core === 'state' && (await countPending(tx, maxPending)) >= maxPending) return false;
  const esims = await lockNextEsims(tx, resync.after_iccid, batchSize);
  const served = esims.filter(({ status, service_version }) => status !== 'failed' || service_version > 0);
  await writeServiceOf(tx, served, deps);
  const at = new Date(deps.clock.nowMs());
  if (deps.core === 'state') {
    await queueAgain(
      tx,
      served.map((esim) => ({ ...esim, uuid: uuidText(deps.newUuid()), at })),
    );
  }
  const isLast = esims.length < batchSize;
  const afterIccid = esims.at(-1)?.iccid ?? resync.after_iccid;
  await advanceResync(tx, { afterIccid, count: served.length, finishedAt: isLast ? at : null });
  return !isLast;
}
