import type { WebhookEndpoint } from '@simplane/sdk';
import { useState } from 'react';
import { Action } from '../parts/action.tsx';
import type { ApiCall } from '../parts/call.ts';
import { Dialog } from '../parts/dialog.tsx';
import { EventTypePicker } from '../parts/event-type-picker.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';

type Fields = { url: string; types: string[]; description: string; isOrdered: boolean };

/** The signing secret is shown once, after the creation. */
export function CreateEndpoint({ onClose }: { onClose(): void }) {
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      {secret !== null ? (
        <SecretOnce secret={secret} what="signing secret" onDone={onClose} />
      ) : (
        <EndpointForm
          initial={{ url: '', types: ['*'], description: '', isOrdered: false }}
          label="Add"
          callOf={(body) => ({ method: 'POST', path: '/v1/webhook_endpoints', body })}
          onDone={(answer) => setSecret((answer as { secret: string }).secret)}
        />
      )}
    </Dialog>
  );
}

export function EditEndpoint({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose(): void }) {
  return (
    <Dialog title="Edit the endpoint" onClose={onClose}>
      <EndpointForm
        initial={{
          url: endpoint.url,
          types: endpoint.enabled_event_types,
          description: endpoint.description ?? '',
          isOrdered: endpoint.ordering === 'esim',
        }}
        label="Save"
        callOf={(body) => ({ method: 'PATCH', path: `/v1/webhook_endpoints/${endpoint.id}`, body })}
        onDone={onClose}
      />
    </Dialog>
  );
}

type Props = {
  initial: Fields;
  label: string;
  callOf(body: object): ApiCall;
  onDone(answer: unknown): void;
};

function EndpointForm({ initial, label, callOf, onDone }: Props) {
  const [{ url, types, description, isOrdered }, setFields] = useState(initial);
  const change = (fields: Partial<Fields>) => setFields((before) => ({ ...before, ...fields }));
  const hint = hintFor(url);
  return (
    <div className="form">
      <label>
        URL
        <input
          type="url"
          value={url}
          placeholder="https://example.com/hooks/esim"
          onChange={(event) => change({ url: event.target.value.trim() })}
        />
      </label>
      {hint !== null && (
        <p className="warn" role="status">
          ▲ {hint}
        </p>
      )}
      <EventTypePicker chosen={types} onChange={(types) => change({ types })} />
      <label className="check">
        <input
          type="checkbox"
          checked={isOrdered}
          onChange={(event) => change({ isOrdered: event.target.checked })}
        />
        Events of one eSIM in order, one after the other
      </label>
      <label>
        Description, for yourself
        <input value={description} onChange={(event) => change({ description: event.target.value })} />
      </label>
      <Action
        label={label}
        kind="main"
        scope="write"
        call={callOf({
          url,
          enabled_event_types: types,
          ordering: isOrdered ? 'esim' : 'none',
          ...((description !== '' || initial.description !== '') && { description: description || null }),
        })}
        onDone={onDone}
      />
    </div>
  );
}

/** What a person forgets most often. */
function hintFor(url: string): string | null {
  if (url === '' || /^https?:\/\//.test(url)) return null;
  return /^(localhost|127\.|\[::1\])/.test(url)
    ? `Start it with http://, as in http://${url}`
    : `Start it with https://, as in https://${url}`;
}
