import type { DeliveryAttempt, WebhookEndpoint, WebhookProbe } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Bars } from '../parts/bars.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Health } from '../parts/endpoint-health.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { everyHour } from '../parts/every-hour.ts';
import { Filter } from '../parts/filter.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader, Panel } from '../parts/panel.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link, navigate, usePlace } from '../router.tsx';
import { Recover } from './webhook-recover.tsx';

/** An endpoint: whether it works, what it answered, and what to do if it does not. */
export default function WebhookScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const [secret, setSecret] = useState<string | null>(null);
  const [probe, setProbe] = useState<WebhookProbe | null>(null);
  const { data: endpoint, error } = useQuery({
    queryKey: ['webhook_endpoints', id],
    queryFn: () => api.webhookEndpoints.get(id),
    refetchInterval: pollMs,
  });
  if (error) return <ErrorNote error={error} />;
  if (!endpoint) return <p className="empty">Loading…</p>;
  const path = `/v1/webhook_endpoints/${id}`;
  return (
    <>
      <PageHeader
        title={
          <>
            <code>{endpoint.url}</code> <Health endpoint={endpoint} />
          </>
        }
        above={<Link to={at('/webhooks')}>Webhooks</Link>}
      >
        <Action
          label="Probe"
          scope="write"
          call={{ method: 'POST', path: `${path}/probe` }}
          onDone={(answer) => setProbe(answer as WebhookProbe)}
        />
        <Action
          label="Rotate secret"
          scope="write"
          confirm={{
            id,
            effect: 'Deliveries are signed with both secrets for a day, then with the new one only.',
          }}
          call={{ method: 'POST', path: `${path}/rotate_secret`, body: {} }}
          onDone={(answer) => setSecret((answer as { secret: string }).secret)}
        />
        <Action
          label="Delete"
          kind="danger"
          scope="write"
          confirm={{
            id,
            effect: 'This deletes the endpoint and cancels its pending deliveries. It cannot be undone.',
          }}
          call={{ method: 'DELETE', path }}
          onDone={() => navigate(at('/webhooks'))}
        />
      </PageHeader>
      {probe && <Probed probe={probe} />}
      {endpoint.status === 'disabled' && (
        <div className="error-note row apart" role="status">
          <p>✕ {endpoint.disabled_reason ?? 'Disabled by a request, not because of failures.'}</p>
          <Action label="Enable" scope="write" call={{ method: 'POST', path: `${path}/enable` }} />
        </div>
      )}
      {endpoint.status === 'enabled' && endpoint.failing_since !== null && (
        <div className="notice">
          <p>
            ▲ Failing since <Time at={endpoint.failing_since} />: {endpoint.last_error}{' '}
            {endpoint.next_attempt_at !== null && (
              <>
                Next attempt <Time at={endpoint.next_attempt_at} />.
              </>
            )}
          </p>
          <p>
            Fix the receiver, then probe it. Pending deliveries are retried automatically. Recover the failed
            ones below.
          </p>
        </div>
      )}
      <EndpointFacts endpoint={endpoint} />
      <div className="columns">
        <div>
          <Stats id={id} />
          <Attempts id={id} />
        </div>
        <div>
          <Recover endpoint={endpoint} />
          <Json value={endpoint} />
        </div>
      </div>
      {secret !== null && (
        <Dialog title="The new signing secret" onClose={() => setSecret(null)}>
          <SecretOnce secret={secret} what="signing secret" onDone={() => setSecret(null)} />
        </Dialog>
      )}
    </>
  );
}

function Probed({ probe }: { probe: WebhookProbe }) {
  return (
    <div className={probe.outcome === 'succeeded' ? 'notice ok' : 'notice'} role="status">
      {probe.outcome === 'succeeded' ? '✓' : '✕'} The probe got {probe.status_code ?? probe.error} in{' '}
      {duration(probe.duration_ms)}.
      {probe.response !== null && <pre className="answer">{probe.response}</pre>}
    </div>
  );
}

function EndpointFacts({ endpoint }: { endpoint: WebhookEndpoint }) {
  return (
    <Facts>
      <Fact name="Id">
        <Id id={endpoint.id} />
      </Fact>
      <Fact name="Events">
        <code>{endpoint.enabled_event_types.join(', ')}</code>
      </Fact>
      <Fact name="Ordering">{endpoint.ordering === 'esim' ? 'per eSIM' : 'none'}</Fact>
      <Fact name="Last success">
        <Time at={endpoint.last_success_at} />
      </Fact>
      <Fact name="Secrets">
        {endpoint.secrets.map(({ created, expires_at: end }) => (
          <span key={created} className="row">
            from <Time at={created} />
            {end !== null && (
              <>
                , until <Time at={end} />
              </>
            )}
          </span>
        ))}
      </Fact>
      {endpoint.description !== null && <Fact name="Description">{endpoint.description}</Fact>}
    </Facts>
  );
}

function Stats({ id }: { id: string }) {
  const { api } = useClients();
  const { data } = useQuery({
    queryKey: ['stats', id],
    queryFn: () => api.webhookEndpoints.stats(id),
    refetchInterval: pollMs * 4,
  });
  if (!data) return null;
  const { succeeded_count: good, failed_count: bad, p50_ms: p50, p99_ms: p99 } = data;
  const hours = everyHour(data, Date.now() / 1_000);
  const finding = `${good} attempts succeeded and ${bad} failed`;
  return (
    <Panel title="Attempts per hour, last day" aside={finding}>
      <div className="body">
        <p className="quiet">
          {p50 === null ? 'No attempt yet.' : `Median duration ${duration(p50)}`}
          {p99 !== null && `, 99th percentile ${duration(p99)}.`}
        </p>
        <Bars
          counts={hours.map(({ succeeded, failed }) => succeeded + failed)}
          failed={hours.map(({ failed }) => failed)}
          finding={finding}
        />
      </div>
    </Panel>
  );
}

function Attempts({ id }: { id: string }) {
  const { api } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const outcome = query.get('outcome') as 'succeeded' | 'failed' | null;
  return (
    <Panel
      title="Attempts"
      aside={
        <Filter
          name="outcome"
          label="Outcome"
          options={[
            { value: 'failed', label: 'failed' },
            { value: 'succeeded', label: 'succeeded' },
          ]}
        />
      }
    >
      <ListTable<DeliveryAttempt>
        caption="Attempts, those of the newest delivery first"
        queryKey={['attempts', id, outcome]}
        pollMs={pollMs}
        read={(page) => api.webhookEndpoints.attempts(id, { ...page, ...(outcome !== null && { outcome }) })}
        keyOf={({ delivery_id: delivery, number }) => `${delivery} ${number}`}
        to={({ event_id: event }) => at(`/events/${event}`)}
        empty="No attempt yet."
        columns={[
          { name: 'When', cell: ({ at }) => <Time at={at} />, isTime: true },
          {
            name: 'Response',
            cell: ({ outcome, status_code: status, error, response }) => (
              <>
                <State status={outcome} word={String(status ?? error)} />{' '}
                <code className="said wide">{response?.slice(0, 80)}</code>
              </>
            ),
          },
          { name: 'Event', cell: ({ event_id: event }) => <Id id={event} to={at(`/events/${event}`)} /> },
          { name: 'No.', cell: ({ number }) => number, isNumber: true },
          { name: 'Duration', cell: ({ duration_ms: ms }) => duration(ms), isNumber: true },
        ]}
      />
    </Panel>
  );
}
