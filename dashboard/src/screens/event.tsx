import type { Delivery } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { EventAbout } from '../parts/event-about.tsx';
import { clock, duration, exact } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader, Panel } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';

/** An event: where it went, what the receivers answered, and its bytes. */
export default function EventScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const { data: event, error } = useQuery({ queryKey: ['events', id], queryFn: () => api.events.get(id) });
  const deliveries = useQuery({
    queryKey: ['deliveries', 'event', id],
    queryFn: async () => (await api.events.listDeliveries(id, { limit: 100 })).data,
    refetchInterval: pollMs,
  });
  if (error) return <ErrorNote error={error} />;
  if (!event) return <p className="empty">Loading…</p>;
  return (
    <>
      <PageHeader title={<code>{event.type}</code>} about={<Link to={at('/events')}>Events</Link>}>
        <Action
          label="Replay to all"
          scope="write"
          call={{ method: 'POST', path: `/v1/events/${id}/replay`, body: {} }}
        />
      </PageHeader>
      <Facts>
        <Fact name="Event">
          <Id id={event.id} />
        </Fact>
        <Fact name="Happened">
          <Time at={event.created} />
        </Fact>
        <Fact name="About">
          <EventAbout data={event.data as Record<string, unknown>} />
        </Fact>
      </Facts>
      <Panel title="Deliveries" aside={`${deliveries.data?.length ?? 0}`}>
        {deliveries.error && <ErrorNote error={deliveries.error} />}
        {deliveries.data?.length === 0 && <div className="empty">No endpoint subscribes to this type.</div>}
        {deliveries.data?.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </Panel>
      <Json value={event} title="Payload" isOpen />
    </>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const at = useAccountPath();
  const { status, attempts, next_attempt_at: next } = delivery;
  return (
    <article className="body delivery">
      <div className="row">
        <State status={status} />
        <Id id={delivery.id} />
        <span className="quiet">to</span>
        <Id id={delivery.webhook_endpoint_id} to={at(`/webhooks/${delivery.webhook_endpoint_id}`)} />
        {delivery.origin !== 'event' && <span className="chip">{delivery.origin}</span>}
        {next !== null && (
          <span className="quiet">
            next attempt <Time at={next} />
          </span>
        )}
        {delivery.blocked_by !== null && (
          <span className="warn">
            ▲ waits for <Id id={delivery.blocked_by} />
          </span>
        )}
        <Action
          label={status === 'pending' ? 'Try now' : 'Send again'}
          scope="write"
          call={{ method: 'POST', path: `/v1/deliveries/${delivery.id}/retry` }}
        />
      </div>
      <ol className="attempts">
        {attempts.map((attempt) => (
          <li key={attempt.at + String(attempt.duration_ms)}>
            <time title={exact(attempt.at)}>{clock(attempt.at)}</time>{' '}
            {attempt.error === null && attempt.status_code !== null && attempt.status_code < 300 ? '✓' : '✕'}{' '}
            {attempt.status_code ?? attempt.error}{' '}
            <span className="quiet">in {duration(attempt.duration_ms)}</span>
            {attempt.response !== null && attempt.response !== '' && (
              <details>
                <summary>Answer</summary>
                <pre className="answer">{attempt.response}</pre>
              </details>
            )}
          </li>
        ))}
      </ol>
    </article>
  );
}
