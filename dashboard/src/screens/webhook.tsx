import type { WebhookEndpoint, WebhookProbe } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath, useIdInPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Breakable, Url } from '../parts/breakable.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Health, MissedCount } from '../parts/endpoint-health.tsx';
import { duration } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Json } from '../parts/json.tsx';
import { Fact, Facts, PageHeader } from '../parts/panel.tsx';
import { Shown, useReading } from '../parts/reading.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link, navigate } from '../router.tsx';
import { EditEndpoint } from './endpoint-form.tsx';
import { Attempts, Stats } from './webhook-attempts.tsx';
import { Missed } from './webhook-missed.tsx';

/** An endpoint: whether it works, what it answered, and what to do if it does not. */
export default function WebhookScreen() {
  const { api } = useClients();
  const at = useAccountPath();
  const id = useIdInPath();
  const reading = useReading({
    queryKey: ['webhook_endpoints', id],
    queryFn: () => api.webhookEndpoints.get(id),
    pollMs,
  });
  const above = <Link to={at('/webhooks')}>Webhooks</Link>;
  return (
    <Shown of={reading} what="the endpoint" before={<PageHeader title={<Id id={id} />} above={above} />}>
      {(endpoint) => (
        <>
          <Heading endpoint={endpoint} />
          <Trouble endpoint={endpoint} />
          <EndpointFacts endpoint={endpoint} />
          <div className="columns">
            <div>
              <Stats id={id} />
              <Attempts id={id} />
            </div>
            <div>
              <Missed endpoint={endpoint} />
              <Json value={endpoint} />
            </div>
          </div>
        </>
      )}
    </Shown>
  );
}

const pathOf = (id: string) => `/v1/webhook_endpoints/${id}`;

function Heading({ endpoint }: { endpoint: WebhookEndpoint }) {
  const at = useAccountPath();
  const { id, status, url } = endpoint;
  const [secret, setSecret] = useState<string | null>(null);
  const [probe, setProbe] = useState<WebhookProbe | null>(null);
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <PageHeader
        title={
          <>
            <code>
              <Url text={url} />
            </code>{' '}
            <Health endpoint={endpoint} />
          </>
        }
        above={<Link to={at('/webhooks')}>Webhooks</Link>}
      >
        <Action
          label="Probe"
          scope="write"
          call={{ method: 'POST', path: `${pathOf(id)}/probe` }}
          onDone={(answer) => setProbe(answer as WebhookProbe)}
        />
        <ScopedButton scope="write" onClick={() => setEditing(true)}>
          Edit
        </ScopedButton>
        {status === 'enabled' && <Pause id={id} />}
        <Action
          label="Rotate secret"
          scope="write"
          confirm={{
            id,
            effect: 'Deliveries are signed with both secrets for a day, then with the new one only.',
          }}
          call={{ method: 'POST', path: `${pathOf(id)}/rotate_secret`, body: {} }}
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
          call={{ method: 'DELETE', path: pathOf(id) }}
          onDone={() => navigate(at('/webhooks'))}
        />
      </PageHeader>
      {probe && <Probed probe={probe} />}
      {isEditing && <EditEndpoint endpoint={endpoint} onClose={() => setEditing(false)} />}
      {secret !== null && (
        <Dialog title="The new signing secret" onClose={() => setSecret(null)}>
          <SecretOnce secret={secret} what="signing secret" onDone={() => setSecret(null)} />
        </Dialog>
      )}
    </>
  );
}

function Pause({ id }: { id: string }) {
  return (
    <Action
      label="Pause"
      scope="write"
      confirm={{
        effect:
          'From now on, nothing is sent to it, and its pending deliveries are canceled. Events of the meantime are kept: after “Resume”, send them from this page.',
      }}
      call={{ method: 'PATCH', path: pathOf(id), body: { status: 'disabled' } }}
    />
  );
}

/** Why nothing arrives, and what to do about it. */
function Trouble({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, status, disabled_reason: reason, failing_since: since, next_attempt_at: next } = endpoint;
  if (status === 'disabled') {
    return (
      <div className={reason === undefined ? 'notice row apart' : 'error-note row apart'} role="status">
        <p>{reason === undefined ? '‖ Paused by a request: nothing is sent to it.' : `✕ ${reason}`}</p>
        <Action
          label={reason === undefined ? 'Resume' : 'Enable'}
          scope="write"
          kind="main"
          call={{ method: 'POST', path: `${pathOf(id)}/enable` }}
        />
      </div>
    );
  }
  if (since === null) return null;
  return (
    <div className="notice">
      <p>
        ▲ Failing since <Time at={since} />: {endpoint.last_error}{' '}
        {next !== null && (
          <>
            Next attempt <Time at={next} />.
          </>
        )}
      </p>
      <p>
        Fix the receiver, then probe it. Pending deliveries are retried automatically. What they give up on is
        under “Missed events”.
      </p>
    </div>
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
        <code>
          <Breakable text={endpoint.enabled_event_types.join(', ')} />
        </code>
      </Fact>
      <Fact name="Ordering">{endpoint.ordering === 'esim' ? 'per eSIM' : 'none'}</Fact>
      <Fact name="Last success">
        <Time at={endpoint.last_success_at} />
      </Fact>
      <Fact name="Missed">
        {endpoint.missed_count === 0 ? 'nothing' : <MissedCount endpoint={endpoint} />}
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
