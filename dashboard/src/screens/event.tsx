import type { Delivery } from '@simplane/sdk';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { useEndpoints } from '../endpoints.ts';
import { Action } from '../parts/action.tsx';
import { Breakable, Url } from '../parts/breakable.tsx';
import type { ApiCall } from '../parts/call.ts';
import { EventAbout } from '../parts/event-about.tsx';
import { clock, duration, exact, tail } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader, Panel } from '../parts/panel.tsx';
import { peek, Shown, useReading } from '../parts/reading.tsx';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';

/** An event: where it went, what the receivers answered, and its bytes. */
export default function EventScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const reading = useReading({
    queryKey: ['events', id],
    queryFn: () => api.events.get(id),
    isStatic: true,
  });
  const above = <Link to={at('/events')}>Events</Link>;
  return (
    <Shown of={reading} what="the event" before={<PageHeader title={<Id id={id} />} above={above} />}>
      {(event) => (
        <>
          <PageHeader
            title={
              <code>
                <Breakable text={event.type} />
              </code>
            }
            above={above}
          >
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
          <div className="columns">
            <div>
              <Deliveries id={id} />
            </div>
            <div>
              <Json value={event} title="Payload" isOpen />
            </div>
          </div>
        </>
      )}
    </Shown>
  );
}

function Deliveries({ id }: { id: string }) {
  const { api } = useClients();
  const reading = useReading({
    queryKey: ['deliveries', 'event', id],
    queryFn: async () => (await api.events.listDeliveries(id, { limit: 100 })).data,
    pollMs,
  });
  return (
    <Panel title="Deliveries" aside={peek(reading)?.length}>
      <Shown of={reading} what="the deliveries">
        {(deliveries) =>
          deliveries.length === 0 ? (
            <div className="empty">No deliveries: no enabled endpoint was subscribed to this type.</div>
          ) : (
            deliveries.map((delivery) => <DeliveryRow key={delivery.id} delivery={delivery} />)
          )
        }
      </Shown>
    </Panel>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const at = useAccountPath();
  const urlOf = useEndpointUrl();
  const { status, attempts, next_attempt_at: next, webhook_endpoint_id: endpoint } = delivery;
  return (
    <article className="delivery">
      <div className="body row apart">
        <span className="row">
          <State status={status} />
          <Id id={delivery.id} />
          <span className="quiet">to</span>
          <Link to={at(`/webhooks/${endpoint}`)} title={endpoint}>
            <Url text={urlOf(endpoint)} />
          </Link>
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
        </span>
        <Action
          label={status === 'pending' ? 'Retry now' : status === 'succeeded' ? 'Replay' : 'Retry'}
          scope="write"
          call={againOf(delivery)}
        />
      </div>
      <Table<NumberedAttempt>
        caption={`Attempts to deliver to ${urlOf(endpoint)}`}
        rows={attempts.map((attempt, index) => ({ ...attempt, number: index + 1 })).reverse()}
        keyOf={({ number }) => `${delivery.id} ${number}`}
        empty={
          status === 'canceled'
            ? 'Never sent: it was canceled before its first attempt, as when its endpoint is disabled.'
            : 'No attempt yet.'
        }
        columns={[
          { name: 'No.', cell: ({ number }) => number, isNumber: true },
          { name: 'Sent', cell: ({ at }) => <time title={exact(at)}>{clock(at)}</time>, isTime: true },
          {
            name: 'Status',
            cell: (attempt) => (
              <State
                status={isSuccess(attempt) ? 'succeeded' : 'failed'}
                word={String(attempt.status_code ?? attempt.error)}
              />
            ),
          },
          { name: 'Duration', cell: ({ duration_ms: ms }) => duration(ms), isNumber: true },
          ...(attempts.some(({ response }) => response) ? [said] : []),
        ]}
      />
    </article>
  );
}

/** A delivery that succeeded cannot be retried, so its event is replayed to the same endpoint. */
function againOf({ id, event_id: event, webhook_endpoint_id: endpoint, status }: Delivery): ApiCall {
  if (status !== 'succeeded') return { method: 'POST', path: `/v1/deliveries/${id}/retry` };
  return { method: 'POST', path: `/v1/events/${event}/replay`, body: { webhook_endpoint_id: endpoint } };
}

type Attempt = Delivery['attempts'][number];
type NumberedAttempt = Attempt & { number: number };

const said: Column<NumberedAttempt> = {
  name: 'Response',
  cell: ({ response }) =>
    response !== null &&
    response !== '' && (
      <details>
        <summary>Show</summary>
        <pre className="answer">{response}</pre>
      </details>
    ),
};

function isSuccess({ error, status_code: status }: Attempt): boolean {
  return error === null && status !== null && status < 300;
}

/** URLs of endpoints by their ids; a deleted one is called by the end of its id. */
function useEndpointUrl(): (id: string) => string {
  const endpoints = peek(useEndpoints());
  return (id) =>
    endpoints?.find((endpoint) => endpoint.id === id)?.url.replace(/^https?:\/\//, '') ?? tail(id);
}
