import type { ProfileError } from '@simplane/contract';
import type { CoreMode } from '../../network/core-mode.ts';
import type { Observation } from '../../network/port.ts';
import { emit } from '../../notify/events/emit.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import { promoteBundle } from '../bundles/write.ts';
import { activateEsim } from '../esims/activate.ts';
import { type LockedEsim, lockAnyEsim, type NotLocked } from '../esims/lock.ts';
import { isPastFailure, nextProfileState } from '../esims/profile-state.ts';
import { noteInstalled } from '../install-links/note-installed.ts';
import { refreshService } from '../service/write.ts';
import { sinceOrder } from './observed-at.ts';
import { updateCountry, updateProfile } from './sql.ts';

type Deps = { clock: Clock; newUuid: NewUuid; core: CoreMode };
type Profile = Extract<Observation, { kind: 'profile' }>;
type Attach = Extract<Observation, { kind: 'attach' }>;

/**
 * Stores a network's observation of an eSIM. Returns the eSIM afterwards, or why it was not stored. Observations may be
 * repeated and in any order; they are ignored for an eSIM that is terminated, failed or erased.
 */
export async function observe(
  tx: Queryable,
  observation: Observation,
  deps: Deps,
): Promise<LockedEsim | NotLocked> {
  const esim = await lockAnyEsim(tx, observation.iccid);
  if (typeof esim === 'string') return esim;
  if (esim.erased_at || esim.status === 'terminated' || esim.status === 'failed') return esim;
  switch (observation.kind) {
    case 'profile':
      return observeProfile(tx, esim, observation, deps);
    case 'attach':
      return observeAttach(tx, esim, observation, deps);
  }
}

/** Never changes the eSIM's status. */
async function observeProfile(
  tx: Queryable,
  esim: LockedEsim,
  seen: Profile,
  deps: Deps,
): Promise<LockedEsim> {
  const { state, at } = seen;
  if (seen.state === 'error' && isPastFailure(esim.profile_state, seen.failure.step)) return esim;
  const next = nextProfileState({ state: esim.profile_state, at: esim.profile_observed_at }, { state, at });
  if (!next) return esim;
  const error = seen.state === 'error' ? seen.failure.error : null;
  const eid = seen.eid ?? esim.eid;
  await updateProfile(tx, esim, { state, at, eid, error });
  await noteInstalled(tx, esim, seen);
  if (next.isChange || !isSameFailure(esim.profile_error, error)) {
    const type =
      seen.state === 'error'
        ? (`esim.${seen.failure.step}_failed` as const)
        : (`esim.${seen.state}` as const);
    const data = { iccid: esim.iccid, product_id: esim.product_id, ...(error && { error }) };
    await emit(tx, [newEvent(deps, { accountUuid: esim.account_id, type, data, reference: esim.reference })]);
  }
  return { ...esim, profile_state: state, profile_observed_at: at, eid, profile_error: error };
}

/** A device that fails in the same way again is no news. The network's own words may differ each time. */
function isSameFailure(known: ProfileError | null, seen: ProfileError | null): boolean {
  if (seen === null) return true;
  const names = ['notification_point_id', 'subject_code', 'reason_code'] as const;
  return known?.code === seen.code && names.every((name) => known.upstream[name] === seen.upstream[name]);
}

/** The first attach activates the eSIM and its bundle; every attach updates the country. */
async function observeAttach(tx: Queryable, esim: LockedEsim, attach: Attach, deps: Deps) {
  const active = await activateEsim(tx, esim, deps);
  await promoteBundle(tx, { ...active, country: attach.country }, sinceOrder(attach.at, esim), deps);
  const seen = await observeCountry(tx, active, attach, deps);
  if (!seen.is_queued) await refreshService(tx, seen, deps);
  return seen;
}

/** Ignores an attach that is not newer than the known country. */
async function observeCountry(
  tx: Queryable,
  esim: LockedEsim,
  { country, at }: Attach,
  deps: Deps,
): Promise<LockedEsim> {
  if (esim.country_observed_at && at <= esim.country_observed_at) return esim;
  const previous = esim.country;
  await updateCountry(tx, esim, { country, at });
  if (previous !== null && previous !== country) {
    const data = { iccid: esim.iccid, product_id: esim.product_id, country, previous_country: previous };
    const { account_id: accountUuid, reference } = esim;
    await emit(tx, [newEvent(deps, { accountUuid, type: 'esim.country_changed', data, reference })]);
  }
  return { ...esim, country, country_observed_at: at };
}
