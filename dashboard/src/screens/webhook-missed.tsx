import type { WebhookEndpoint } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { number } from '../parts/format.ts';
import { Panel } from '../parts/panel.tsx';
import { AllWell, Shown, useReading } from '../parts/reading.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';
import { RecoverSince } from './webhook-recover.tsx';

type Undelivered = Awaited<
  ReturnType<ReturnType<typeof useClients>['api']['webhookEndpoints']['undelivered']>
>;

/** What the endpoint did not receive, by type and day, and the way to send it. */
export function Missed({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { api } = useClients();
  const [isStarted, setStarted] = useState(false);
  const reading = useReading({
    queryKey: ['undelivered', endpoint.id],
    queryFn: () => api.webhookEndpoints.undelivered(endpoint.id),
    pollMs,
  });
  return (
    <Panel title="Missed events" isUrgent={endpoint.missed_count > 0}>
      <div className="body form">
        <Shown of={reading} what="what it missed">
          {(missed) =>
            missed.event_count === 0 ? (
              <p>
                <AllWell>
                  {isStarted ? 'All that it missed is sent or being sent.' : 'It missed nothing.'}
                </AllWell>
              </p>
            ) : (
              <>
                <Counts missed={missed} />
                <Send endpoint={endpoint} onStarted={() => setStarted(true)} />
              </>
            )
          }
        </Shown>
        <details>
          <summary>Send events of a time, also of types that it subscribed to later</summary>
          <RecoverSince endpoint={endpoint} />
        </details>
      </div>
    </Panel>
  );
}

function Counts({ missed: { event_count: count, capped, oldest, types, days } }: { missed: Undelivered }) {
  const at = useAccountPath();
  return (
    <>
      <p>
        ✕ {capped && 'At least '}
        <b>{number(count)}</b> {count === 1 ? 'event' : 'events'} did not arrive
        {oldest !== null && (
          <>
            , the oldest <Time at={oldest} />
          </>
        )}
        . <Link to={at('/events?delivery=undelivered')}>Show them</Link>
      </p>
      <ul className="quiet">
        {types.map(({ type, count }) => (
          <li key={type}>
            {number(count)}{' '}
            <code>
              <Breakable text={type} />
            </code>
          </li>
        ))}
      </ul>
      {days.length > 1 && (
        <p className="quiet">{days.map(({ day, count }) => `${day}: ${number(count)}`).join(' · ')}</p>
      )}
    </>
  );
}

function Send({ endpoint: { id, status }, onStarted }: { endpoint: WebhookEndpoint; onStarted(): void }) {
  if (status === 'disabled')
    return <p>Nothing can be sent before it is resumed. Resuming changes no count here.</p>;
  return (
    <Action
      label="Send them"
      scope="write"
      kind="main"
      call={{ method: 'POST', path: `/v1/webhook_endpoints/${id}/recover`, body: {} }}
      onDone={onStarted}
    />
  );
}
