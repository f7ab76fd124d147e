import { useState } from 'react';
import { mayDo, useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';

const scopes = {
  read: 'sees everything but activation codes',
  write: 'orders and changes eSIMs and webhooks; includes install',
  install: 'sees activation codes',
  admin: 'manages keys, sees the audit log',
  network: 'reports usage for every account',
};

/** A new key, restricted as one likes. It is shown once. */
export function CreateKey({ onClose }: { onClose(): void }) {
  const clients = useClients();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>(['read']);
  const [cidrs, setCidrs] = useState('');
  const [end, setEnd] = useState('');
  const [key, setKey] = useState<string | null>(null);
  const body = {
    name,
    scopes: chosen,
    ...(cidrs.trim() !== '' && { allowed_cidrs: cidrs.split(/[\s,]+/).filter(Boolean) }),
    ...(end !== '' && { expires_at: endOf(end) }),
  };
  if (key !== null)
    return (
      <Dialog title="Create a key" onClose={onClose}>
        <SecretOnce secret={key} what="key" onDone={onClose} />
      </Dialog>
    );
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <div className="form">
        <label>
          Name
          <input value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <fieldset>
          <legend>Scopes</legend>
          {Object.entries(scopes).map(([scope, about]) => (
            <label key={scope} className="check">
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                disabled={!mayDo(clients, scope)}
                onChange={(event) =>
                  setChosen(event.target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
                }
              />
              {scope}
              <span className="quiet">{mayDo(clients, scope) ? about : 'your key does not have it'}</span>
            </label>
          ))}
        </fieldset>
        <label>
          Last day (UTC), empty for none
          <input type="date" value={end} min={today()} onChange={(event) => setEnd(event.target.value)} />
        </label>
        <label>
          Allowed addresses (CIDR), empty for all
          <input
            value={cidrs}
            placeholder="203.0.113.0/24"
            spellCheck={false}
            onChange={(event) => setCidrs(event.target.value)}
          />
        </label>
        <Action
          label="Create"
          kind="main"
          scope="admin"
          call={{ method: 'POST', path: '/v1/api_keys', body }}
          onDone={(answer) => setKey((answer as { key: string }).key)}
        />
      </div>
    </Dialog>
  );
}

/** The key works through its last day. */
function endOf(day: string): number {
  return Date.parse(day) / 1_000 + 86_400;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
