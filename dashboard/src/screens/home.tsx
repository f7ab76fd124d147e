import type { Esim, Overview, WebhookEndpoint, WebhookEvent } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { useEndpoints } from '../endpoints.ts';
import { useLive } from '../live/use-live.tsx';
import { Action } from '../parts/action.tsx';
import { Breakable, Url } from '../parts/breakable.tsx';
import { curlOf } from '../parts/call.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Health, MissedCount } from '../parts/endpoint-health.tsx';
import { EventAbout } from '../parts/event-about.tsx';
import { EventWhat } from '../parts/event-what.tsx';
import { Funnel, type Stage } from '../parts/funnel.tsx';
import { Iccid } from '../parts/id.tsx';
import { OrderButton } from '../parts/order-form.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { AllWell, peek, Shown, useReading } from '../parts/reading.tsx';
import { canSimulate, Simulate } from '../parts/simulate.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link, setQuery, usePlace } from '../router.tsx';
import { GettingStarted } from './getting-started.tsx';
import { LiveMark } from './live-mark.tsx';

const windows = { '1 h': 3_600, '24 h': 86_400, '7 d': 604_800 } as const;

/** What an integrator keeps open: how far orders come, what happens now, and what needs a look. */
export default function Home() {
  const { query } = usePlace();
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
        <OrderButton />
      </PageHeader>
      <Orders seconds={windows[chosen] ?? windows['24 h']} />
      <div className="columns">
        <div>
          <LiveEvents />
        </div>
        <div>
          <NeedsALook />
          <GettingStarted />
          <Newest />
        </div>
      </div>
    </>
  );
}

const legend = (
  <span className="wide">Each bar is an hour. Percentages are relative to the previous step.</span>
);

function Orders({ seconds }: { seconds: number }) {
  const { api } = useClients();
  const at = useAccountPath();
  const reading = useReading({
    queryKey: ['overview', seconds],
    queryFn: () => api.overview({ from: Math.floor(Date.now() / 1_000) - seconds }),
    pollMs,
  });
  return (
    <Panel title="Orders" footer={legend}>
      <Shown of={reading} what="the figures">
        {(overview) => (
          <>
            <Funnel overview={overview} to={(stage) => at(listOf(stage, overview.from, seconds))} />
            {overview.failures.length > 0 && <Failures overview={overview} />}
          </>
        )}
      </Shown>
    </Panel>
  );
}

const eventOf: Record<Stage, string> = {
  accepted: 'esim.provision',
  provisioned: 'esim.provisioned',
  downloaded: 'esim.downloaded',
  installed: 'esim.installed',
  active: 'esim.activated',
};

/** The list that a figure counts, of the same time. */
function listOf(stage: Stage, from: number, seconds: number): string {
  const when = seconds === windows['1 h'] ? 'hour' : seconds === windows['7 d'] ? 'week' : 'day';
  const list = stage === 'accepted' ? '/esims?view=orders&' : '/events?';
  return `${list}type=${eventOf[stage]}&when=${when}&from=${from}`;
}

/** Each cause leads to the orders that it counts. */
function Failures({ overview: { failed_count: failed, failures } }: { overview: Overview }) {
  const at = useAccountPath();
  return (
    <div className="body row">
      <Link to={at('/esims?view=orders&status=failed')} className="subtle">
        <State status="failed" word={`${failed} failed`} />
      </Link>
      {failures.map(({ code, count }) => (
        <Link key={code} to={at(`/esims?view=orders&status=failed&error_code=${code}`)}>
          {count} {code}
        </Link>
      ))}
    </div>
  );
}

const shownEvents = 14;

/** How many events are newer than this one: all, if there was none, or if it is no longer kept. */
function countBefore(event: WebhookEvent | undefined, newestFirst: readonly WebhookEvent[]): number {
  const place = newestFirst.findIndex(({ id }) => id === event?.id);
  return place === -1 ? newestFirst.length : place;
}

/** New events wait behind a button while the pointer is on the list, so that rows never move under it. */
function LiveEvents() {
  const { api } = useClients();
  const at = useAccountPath();
  const { recent } = useLive();
  const [isHeld, setHeld] = useState<WebhookEvent[] | null>(null);
  const reading = useReading({
    queryKey: ['events', 'newest'],
    queryFn: async () => (await api.events.list({ limit: shownEvents })).data,
  });
  const all = [...recent, ...(peek(reading) ?? [])].filter(
    ({ id }, index, events) => events.findIndex((other) => other.id === id) === index,
  );
  const rows = (isHeld ?? all).slice(0, shownEvents);
  const hidden = isHeld ? countBefore(isHeld[0], all) : 0;
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
        <Shown of={reading} what="the newest events">
          {() => (
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
                      <code>
                        <Breakable text={type} />
                      </code>
                    </Link>
                  ),
                },
                {
                  name: 'About',
                  cell: (event) => <EventAbout data={event.data as Record<string, unknown>} />,
                },
                { name: 'What', cell: (event) => <EventWhat event={event} /> },
              ]}
            />
          )}
        </Shown>
      </Panel>
    </section>
  );
}

/** Endpoints that fail or were disabled. */
function NeedsALook() {
  const reading = useEndpoints();
  const failing = peek(reading)?.filter(isFailing) ?? [];
  return (
    <Panel
      title="Needs attention"
      aside={failing.length > 0 && String(failing.length)}
      isUrgent={failing.length > 0}
    >
      <Shown of={reading} what="the endpoints">
        {(endpoints) =>
          failing.length > 0 ? (
            failing.slice(0, 5).map((endpoint) => <Failing key={endpoint.id} endpoint={endpoint} />)
          ) : (
            <div className="empty">
              {endpoints.length === 0 ? (
                'There is no webhook endpoint yet.'
              ) : (
                <AllWell>Every webhook endpoint works.</AllWell>
              )}
            </div>
          )
        }
      </Shown>
    </Panel>
  );
}

function isFailing({ status, failing_since: since, missed_count: missed }: WebhookEndpoint): boolean {
  return status === 'disabled' || since !== null || missed > 0;
}

function Failing({ endpoint }: { endpoint: WebhookEndpoint }) {
  const at = useAccountPath();
  return (
    <div className="body">
      <p>
        <Health endpoint={endpoint} />{' '}
        <Link to={at(`/webhooks/${endpoint.id}`)}>
          <Url text={endpoint.url.replace(/^https?:\/\//, '')} />
        </Link>
      </p>
      {endpoint.missed_count > 0 && (
        <p>
          Missed <MissedCount endpoint={endpoint} />
        </p>
      )}
      <p className="quiet">
        {endpoint.disabled_reason ??
          (endpoint.status === 'disabled'
            ? 'Nothing is sent to it until you resume it.'
            : endpoint.last_error)}
      </p>
      <Action
        label="Probe"
        scope="write"
        call={{ method: 'POST', path: `/v1/webhook_endpoints/${endpoint.id}/probe` }}
      />
    </div>
  );
}

/** What a phone does with the newest eSIM; before the first, how to order it. */
function Newest() {
  const { api, mode } = useClients();
  const reading = useReading({
    queryKey: ['esims', 'newest'],
    queryFn: async () => (await api.esims.list({ limit: 1 })).data[0] ?? null,
    pollMs,
  });
  const newest = peek(reading);
  if (mode === 'live' && newest !== null) return null;
  return (
    <Panel title={newest === null ? 'Your first call' : 'Simulate'}>
      <div className="body">
        <Shown of={reading} what="the newest eSIM">
          {(esim) => (esim === null ? <FirstCall /> : <SimulateNewest esim={esim} />)}
        </Shown>
      </div>
    </Panel>
  );
}

function SimulateNewest({ esim: { iccid, status } }: { esim: Esim }) {
  const at = useAccountPath();
  return (
    <>
      <p className="quiet">
        What a phone does with the newest eSIM, <Iccid iccid={iccid} to={at(`/esims/${iccid}`)} />
      </p>
      {canSimulate(status) ? (
        <Simulate iccid={iccid} />
      ) : (
        <p>
          It is <State status={status} />, so a phone can do nothing with it.
        </p>
      )}
    </>
  );
}

function FirstCall() {
  const call = { method: 'POST', path: '/v1/esims', body: { product_id: 'prod_europe_5gb_30d' } } as const;
  return (
    <CodeBlock
      title="Order an eSIM"
      what="curl command"
      text={curlOf(call, { idempotencyKey: 'my-first-order' })}
    />
  );
}
