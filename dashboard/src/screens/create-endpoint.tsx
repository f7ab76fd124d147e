import { useState } from 'react';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';

/** The signing secret is shown once, after the creation. */
export function CreateEndpoint({ onClose }: { onClose(): void }) {
  const [url, setUrl] = useState('');
  const [types, setTypes] = useState('*');
  const [isOrdered, setOrdered] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const body = {
    url,
    enabled_event_types: types.split(/[\s,]+/).filter(Boolean),
    ...(isOrdered && { ordering: 'esim' }),
  };
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      {secret !== null ? (
        <SecretOnce secret={secret} what="signing secret" onDone={onClose} />
      ) : (
        <div className="form">
          <label>
            URL
            <input
              type="url"
              value={url}
              placeholder="https://example.com/hooks/esim"
              onChange={(event) => setUrl(event.target.value)}
            />
          </label>
          <label>
            Event types, separated by spaces; * is all
            <input value={types} spellCheck={false} onChange={(event) => setTypes(event.target.value)} />
          </label>
          <label className="check">
            <input
              type="checkbox"
              checked={isOrdered}
              onChange={(event) => setOrdered(event.target.checked)}
            />
            Events of one eSIM in order, one after the other
          </label>
          <Action
            label="Add"
            kind="main"
            scope="write"
            call={{ method: 'POST', path: '/v1/webhook_endpoints', body }}
            onDone={(answer) => setSecret((answer as { secret: string }).secret)}
          />
        </div>
      )}
    </Dialog>
  );
}
