import type { EsimStatus } from '@simplane/contract';
import type { CoreMode } from '../../network/core-mode.ts';
import { type NewEvent, newEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import type { NewUuid, TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import type { ServedEsim, ServiceRow } from './served-esim.ts';
import { type ServiceBundle, type ServiceContent, serviceOf } from './service-of.ts';
import { readServiceBundles, writeServiceRows } from './sql.ts';

type Deps = TimeAndIds & { core: CoreMode };
type Served = { esim: ServedEsim; bundles: readonly ServiceBundle[] };

/**
 * Writes the service of these eSIMs if it has changed: raises its version, tells the account and overwrites the eSIM's row in the
 * core's queue. Call it in the transaction of whatever changed an eSIM's status, country or bundles, under the eSIM's lock. Returns how
 * many have changed.
 */
export async function writeService(tx: Queryable, served: readonly Served[], deps: Deps): Promise<number> {
  const now = new Date(deps.clock.nowMs());
  const rows: ServiceRow[] = [];
  for (const { esim, bundles } of served) {
    const { content, endsAt } = serviceOf(statusWanted(esim), bundles, esim.country, now);
    if (esim.service && isSame(esim.service, content)) continue;
    const version = esim.service_version + 1;
    const event =
      esim.service && changedVisibly(esim.service, content) ? eventOf(deps, esim, content, version) : null;
    rows.push({ esim, content, version, endsAt, at: now, uuid: uuidText(deps.newUuid()), event });
  }
  if (rows.length === 0) return 0;
  if ((await writeServiceRows(deps.core)(tx, rows)) !== rows.length) {
    throw new Error('the service of an eSIM changed although the eSIM is locked');
  }
  return rows.length;
}

/** Like `writeService`, for callers that do not have the bundles. */
export async function writeServiceOf(
  tx: Queryable,
  esims: readonly ServedEsim[],
  deps: Deps,
): Promise<number> {
  if (esims.length === 0) return 0;
  const bundles = new Map<string, ServiceBundle[]>(esims.map(({ iccid }) => [iccid, []]));
  for (const { iccid, ...bundle } of await readServiceBundles(tx, esims)) bundles.get(iccid)?.push(bundle);
  const served = esims.map((esim) => ({ esim, bundles: bundles.get(esim.iccid) ?? [] }));
  return writeService(tx, served, deps);
}

/** Writes the service of one eSIM, and returns its version. */
export async function refreshService(tx: Queryable, esim: ServedEsim, deps: Deps): Promise<number> {
  return esim.service_version + (await writeServiceOf(tx, [esim], deps));
}

/** The status that the core should follow: that after a change which it does not have yet. */
export function statusWanted({
  status,
  resumes_to,
  pending_change,
}: Pick<ServedEsim, 'status' | 'resumes_to' | 'pending_change'>): EsimStatus {
  if (pending_change?.change === 'suspend' && status !== 'terminated') return 'suspended';
  if (pending_change?.change === 'resume' && status === 'suspended') return resumes_to ?? status;
  return status;
}

const fields = ['state', 'reason', 'kbps', 'bundle_id', 'until'] as const;

function isSame(before: ServiceContent, after: ServiceContent): boolean {
  return fields.every((name) => before[name] === after[name]);
}

/** Another bundle or end with the same service is news for the core only. Another state has another reason or speed. */
function changedVisibly(before: ServiceContent, after: ServiceContent): boolean {
  return before.reason !== after.reason || before.kbps !== after.kbps;
}

function eventOf(
  deps: { newUuid: NewUuid },
  { account_id: accountUuid, iccid, product_id, reference }: ServedEsim,
  { state, reason, kbps }: ServiceContent,
  version: number,
): NewEvent {
  const data = { iccid, product_id, state, reason, kbps, version };
  return newEvent(deps, { accountUuid, type: 'esim.service_changed', data, reference });
}
