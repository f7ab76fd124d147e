import {
  type AfterDepletion,
  type BundleStatus,
  barAfterDepletion,
  type EsimStatus,
  idPrefixes,
  type ServiceReason,
  type ServiceState,
} from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';

/** What the network should let an eSIM do, as it is stored, shown and sent. */
export type ServiceContent = {
  state: ServiceState;
  reason: ServiceReason | null;
  kbps: number | null;
  bundle_id: string | null;
  until: number | null;
};

/** What of a bundle the service depends on. */
export type ServiceBundle = {
  id: string;
  status: BundleStatus;
  /** Null: every country. */
  countries: readonly string[] | null;
  expires_at: Date | null;
  /** Null: the eSIM is barred. */
  after_depletion: AfterDepletion | null;
};

/** `endsAt`: when the state ends although no active bundle expires then. */
type Derived = { content: ServiceContent; endsAt: Date | null };

/**
 * The service of an eSIM, a function of what is known about it and the time. `bundles` are all of it, oldest first; a country
 * that is not known is covered by every bundle. Always true: it is full exactly if it has no reason.
 */
export function serviceOf(
  status: EsimStatus,
  bundles: readonly ServiceBundle[],
  country: string | null,
  now: Date,
): Derived {
  switch (status) {
    case 'terminated':
    case 'suspended':
      return barred(status);
    case 'provisioned':
    case 'active':
      return ofBundles(bundles, country, now);
    case 'provisioning':
    case 'failed':
      return barred('not_active');
  }
}

/** Whether usage in this country counts on the bundle. */
export function covers({ countries }: Pick<ServiceBundle, 'countries'>, country: string | null): boolean {
  return country === null || countries === null || countries.includes(country);
}

/** The service of an eSIM that has just been provisioned: its first attach activates its bundle, so it must be possible. */
export function firstService(bundleUuid: string): ServiceContent {
  return full(bundleUuid, null);
}

function ofBundles(bundles: readonly ServiceBundle[], country: string | null, now: Date): Derived {
  const isOpen = ({ expires_at }: ServiceBundle) => expires_at === null || expires_at > now;
  const isUsable = (bundle: ServiceBundle) =>
    bundle.status === 'queued' || (bundle.status === 'active' && isOpen(bundle));
  const here = bundles.filter((bundle) => covers(bundle, country));
  const active = here
    .filter(({ status }) => status === 'active')
    .filter(isOpen)
    .sort(byEnd);
  const queued = here.find(({ status }) => status === 'queued');
  const [charged] = active;
  // A queued bundle follows, and nobody knows its end yet.
  if (charged) return { content: full(charged.id, queued ? null : endOf(active.at(-1))), endsAt: null };
  if (queued) return { content: full(queued.id, null), endsAt: null };
  const last = here
    .filter(({ status }) => status !== 'canceled')
    .sort(byEnd)
    .at(-1);
  if (last?.status === 'depleted' && (actionOf(last) === 'bar' || isOpen(last))) return afterDepletion(last);
  if (bundles.some(isUsable)) return barred('not_covered');
  return barred(bundles.some(({ status }) => status !== 'canceled') ? 'expired' : 'not_active');
}

/** `throttle` and `none` last as long as the bundle would have; a barred eSIM stays barred. */
function afterDepletion(bundle: ServiceBundle): Derived {
  const { action, kbps } = bundle.after_depletion ?? barAfterDepletion;
  const bundle_id = idOfUuid(idPrefixes.bundle, bundle.id);
  if (action === 'bar') return barred('depleted', bundle_id);
  const endsAt = bundle.expires_at;
  if (action === 'none') return { content: full(bundle.id, endOf(bundle)), endsAt };
  const content = { state: 'throttled', reason: 'depleted', kbps, bundle_id, until: endOf(bundle) } as const;
  return { content, endsAt };
}

function full(bundleUuid: string, until: number | null): ServiceContent {
  const bundle_id = idOfUuid(idPrefixes.bundle, bundleUuid);
  return { state: 'full', reason: null, kbps: null, bundle_id, until };
}

function barred(reason: ServiceReason, bundle_id: string | null = null): Derived {
  return { content: { state: 'barred', reason, kbps: null, bundle_id, until: null }, endsAt: null };
}

function actionOf({ after_depletion }: ServiceBundle): AfterDepletion['action'] {
  return (after_depletion ?? barAfterDepletion).action;
}

function endOf(bundle: ServiceBundle | undefined): number | null {
  return bundle?.expires_at ? unixSeconds(bundle.expires_at) : null;
}

function byEnd(a: ServiceBundle, b: ServiceBundle): number {
  return (a.expires_at?.getTime() ?? Infinity) - (b.expires_at?.getTime() ?? Infinity) || 0;
}
