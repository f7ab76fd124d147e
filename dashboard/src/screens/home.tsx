import type { WebhookEvent } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { mayDo, useClients } from '../client.ts';
import { useEndpoints } from '../endpoints.ts';
import { useLive } from '../live/use-live.tsx';
import { Action } from '../parts/action.tsx';
import { curlOf } from '../parts/call.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { EventAbout } from '../parts/event-about.tsx';
import { EventWhat } from '../parts/event-what.tsx';
import { Funnel } from '../parts/funnel.tsx';
import { Iccid } from '../parts/id.tsx';
import { OrderForm } from '../parts/order-form.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { Simulate } from '../parts/simulate.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link, navigate, setQuery, usePlace } from '../router.tsx';
import { GettingStarted } from './getting-started.tsx';
import { LiveMark } from './live-mark.tsx';

const windows = { '1 h': 3_600, '24 h': 86_400, '7 d': 604_800 } as const;

/** What an integrator keeps open: how far orders come, what happens now, and what needs a look. */
export default function Home() {
  const clients = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const [isOrdering, setOrdering] = useState(false);
  const chosen = (query.get('window') ?? '24 h') as keyof typeof windows;
  return (
    <>
      <PageHeader title="Home">
        <fieldset className="halves choice">
          <legend className="hidden">Time</legend>
          {Object.keys(windows).map((name) => (
            <button
              key={name}
              type="button"
              className="control"
              aria-pressed={name === chosen}
              onClick={() => setQuery({ window: name === '24 h' ? null : name })}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <button
          type="button"
          className="control main"
          disabled={!mayDo(clients, 'write')}
          onClick={() => setOrdering(true)}
        >
          Order an eSIM
        </button>
      </PageHeader>
      <Orders seconds={windows[chosen] ?? windows['24 h']} />
      <div className="columns">
        <div>
          <LiveEvents />
          <FirstCall />
        </div>
        <div>
          <NeedsALook />
          <GettingStarted onOrder={() => setOrdering(true)} />
          {clients.mode === 'sandbox' && <SimulateNewest />}
        </div>
      </div>
      {isOrdering && (
        <OrderForm
          onClose={() => setOrdering(false)}
          onOrdered={(id) => {
            setOrdering(false);
            navigate(at(`/executions/${id}`));
          }}
        />
      )}
    </>
  );
}

const legend = (
  <span className="wide">Each bar is an hour. Percentages are relative to the previous step.</span>
);

function Orders({ seconds }: { seconds: number }) {
  const { api } = useClients();
  const at = useAccountPath();
  const { data, error } = useQuery({
    queryKey: ['overview', seconds],
    queryFn: () => api.overview({ from: Math.floor(Date.now() / 1_000) - seconds }),
    refetchInterval: pollMs,
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return null;
  return (
    <Panel
      title="Orders"
      footer={
        data.failures.length > 0 ? (
          <>
            <span className="row">
              <State status="failed" word={`${data.failed_count} failed`} />
              <Link to={at('/esims?view=orders&status=failed')}>
                {data.failures.map(({ code, count }) => `${count} ${code}`).join(', ')}
              </Link>
            </span>
            {legend}
          </>
        ) : (
          legend
        )
      }
    >
      <Funnel overview={data} />
    </Panel>
  );
}

const shownEvents = 14;

/** New events wait behind a button while the pointer is on the list, so that rows never move under it. */
function LiveEvents() {
  const { api } = useClients();
  const at = useAccountPath();
  const { recent } = useLive();
  const [isHeld, setHeld] = useState<WebhookEvent[] | null>(null);
  const { data, error } = useQuery({
    queryKey: ['events', 'newest'],
    queryFn: async () => (await api.events.list({ limit: shownEvents })).data,
  });
  const all = [...recent, ...(data ?? [])].filter(
    ({ id }, index, events) => events.findIndex((other) => other.id === id) === index,
  );
  const rows = (isHeld ?? all).slice(0, shownEvents);
  const hidden = isHeld ? all.findIndex(({ id }) => id === isHeld[0]?.id) : 0;
  return (
    <section
      aria-label="Newest events"
      className="hold"
      onMouseEnter={() => setHeld(all)}
      onMouseLeave={() => setHeld(null)}
      onFocus={() => setHeld((held) => held ?? all)}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setHeld(null);
      }}
    >
      <Panel
        title="Events"
        aside={
          <>
            {hidden > 0 && (
              <button type="button" className="control" onClick={() => setHeld(all)}>
                {hidden} new
              </button>
            )}
            <LiveMark />
            <Link to={at('/events')}>All events</Link>
          </>
        }
      >
        {error && <ErrorNote error={error} />}
        <Table
          caption="The newest events"
          rows={rows}
          keyOf={({ id }) => id}
          to={({ id }) => at(`/events/${id}`)}
          empty="Order an eSIM, and its events appear here."
          columns={[
            { name: 'When', cell: ({ created }) => <Time at={created} />, isTime: true },
            {
              name: 'Type',
              cell: ({ id, type }) => (
                <Link to={at(`/events/${id}`)} className="subtle">
                  <code>{type}</code>
                </Link>
              ),
            },
            { name: 'About', cell: (event) => <EventAbout data={event.data as Record<string, unknown>} /> },
            { name: 'What', cell: (event) => <EventWhat event={event} /> },
          ]}
        />
      </Panel>
    </section>
  );
}

/** Endpoints that fail or were disabled. */
function NeedsALook() {
  const at = useAccountPath();
  const { data: endpoints } = useEndpoints({ refetchInterval: pollMs });
  const failing = endpoints?.filter(
    ({ status, failing_since: since }) => status === 'disabled' || since !== null,
  );
  if (!failing || failing.length === 0) return null;
  return (
    <Panel title="Needs attention" aside={String(failing.length)} isUrgent>
      {failing.slice(0, 5).map((endpoint) => (
        <div key={endpoint.id} className="body">
          <p>
            <State status={endpoint.status === 'disabled' ? 'disabled' : 'failing'} />{' '}
            <Link to={at(`/webhooks/${endpoint.id}`)}>{endpoint.url.replace(/^https?:\/\//, '')}</Link>
          </p>
          <p className="quiet">{endpoint.disabled_reason ?? endpoint.last_error}</p>
          <Action
            label="Probe"
            scope="write"
            call={{ method: 'POST', path: `/v1/webhook_endpoints/${endpoint.id}/probe` }}
          />
        </div>
      ))}
    </Panel>
  );
}

function SimulateNewest() {
  const { api } = useClients();
  const at = useAccountPath();
  const { data } = useQuery({
    queryKey: ['esims', 'newest'],
    queryFn: async () => (await api.esims.list({ limit: 1 })).data[0] ?? null,
    refetchInterval: pollMs,
  });
  if (!data) return null;
  return (
    <Panel title="Simulate">
      <div className="body">
        <p className="quiet">
          What a phone does with the newest eSIM, <Iccid iccid={data.iccid} to={at(`/esims/${data.iccid}`)} />
        </p>
        <Simulate iccid={data.iccid} />
      </div>
    </Panel>
  );
}

function FirstCall() {
  const call = { method: 'POST', path: '/v1/esims', body: { product_id: 'prod_europe_5gb_30d' } } as const;
  return (
    <Panel title="Your first call">
      <div className="body">
        <CodeBlock
          title="Order an eSIM"
          what="curl command"
          text={curlOf(call, { idempotencyKey: 'my-first-order' })}
        />
      </div>
    </Panel>
  );
}
