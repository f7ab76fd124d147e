import type { Esim } from '@simplane/sdk';
import { type Shape, State } from './state.tsx';
import { Time } from './time.tsx';

type Service = Esim['service'];

const looks: Record<Service['state'], [shape: Shape, word: string]> = {
  full: ['ok', 'Full service'],
  throttled: ['warning', 'Throttled'],
  barred: ['paused', 'Barred'],
};

const reasons: Record<NonNullable<Service['reason']>, string> = {
  not_active: 'it has no bundle',
  depleted: 'its data is used up',
  expired: 'its bundle has expired',
  not_covered: 'no bundle covers the country where it is',
  suspended: 'it is suspended',
  terminated: 'it is terminated',
};

/** What the network should let an eSIM do, and why. */
export function ServiceState({ service }: { service: Pick<Service, 'state' | 'reason' | 'kbps'> }) {
  const [shape, word] = looks[service.state];
  return (
    <>
      <State status={service.state} shape={shape} word={word} />
      {service.kbps !== null && ` to ${service.kbps} kbit/s`}
      {service.reason !== null && `: ${reasons[service.reason]}`}
    </>
  );
}

/** The same with since when, and whether the operator’s core has it. */
export function ServiceNow({ service }: { service: Service }) {
  const { since, version, applied_version: applied, applied_at: at } = service;
  return (
    <>
      <ServiceState service={service} />
      {since !== null && (
        <span className="quiet">
          {' '}
          since <Time at={since} />
        </span>
      )}
      {version > 0 && (
        <p className="quiet">
          {applied === version && at !== null ? (
            <>
              The network has had it since <Time at={at} />.
            </>
          ) : (
            'The network does not have it yet.'
          )}
        </p>
      )}
    </>
  );
}
