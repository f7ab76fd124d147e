import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { finish } from '../executions/finish.ts';
import { type Deps, type ExecutionError, takeOver } from '../executions/runner.ts';
import { refreshService } from '../service/write.ts';
import type { LockedEsim } from './lock.ts';
import { setPendingChange } from './sql/esims.ts';

type Change = 'suspend' | 'resume' | 'terminate';
type ServiceDeps = Pick<Deps, 'clock' | 'newUuid' | 'core'>;

/** Whether this execution's change is the one that the core should have next. */
export function isProposed(esim: Pick<LockedEsim, 'pending_change'> | null, { id }: { id: string }): boolean {
  return esim?.pending_change?.execution_id === id;
}

/**
 * Makes the change part of the eSIM's service, whose new version goes to the core. A change that still waits for the core ends as
 * superseded: the core need not have it any more. The caller holds the eSIM's lock.
 */
export async function propose(
  tx: Queryable,
  deps: ServiceDeps,
  esim: LockedEsim,
  { change, id }: { change: Change; id: string },
): Promise<LockedEsim> {
  if (esim.pending_change) await supersede(tx, deps, esim, id);
  const proposed = { ...esim, pending_change: { change, execution_id: id, version: 0 } };
  const version = await refreshService(tx, proposed, deps);
  const pending = { ...proposed.pending_change, version };
  await setPendingChange(tx, esim, pending);
  return { ...esim, service_version: version, pending_change: pending };
}

/** Takes a proposed change out of the eSIM's service again. */
export async function withdraw(tx: Queryable, deps: ServiceDeps, esim: LockedEsim): Promise<void> {
  await setPendingChange(tx, esim, null);
  await refreshService(tx, { ...esim, pending_change: null }, deps);
}

async function supersede(
  tx: Queryable,
  deps: ServiceDeps,
  { account_id, pending_change }: LockedEsim,
  byUuid: string,
): Promise<void> {
  const old = await takeOver(tx, account_id, pending_change?.execution_id as string);
  if (!old) return;
  const by = idOfUuid(idPrefixes.execution, byUuid);
  const error: ExecutionError = {
    code: 'superseded',
    message: `A newer change of the eSIM, ${by}, replaced it before the operator’s core had it.`,
    retryable: false,
  };
  await finish(tx, deps, old, { error, at: new Date(deps.clock.nowMs()) });
}
