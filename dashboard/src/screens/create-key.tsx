import { useState } from 'react';
import { mayDo, useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';

const abouts = {
  read: 'sees everything but activation codes',
  write: 'orders and changes eSIMs and webhooks; includes install',
  install: 'sees activation codes',
  admin: 'manages keys, sees the audit log',
  network: 'reports usage for every account',
};

/** A new key, restricted as one likes. It is shown once. */
export function CreateKey({ onClose }: { onClose(): void }) {
  const clients = useClients();
  const [key, setKey] = useState<string | null>(null);
  return (
    <Dialog title="Create a key" onClose={onClose}>
      {key !== null ? (
        <SecretOnce secret={key} what="key" onDone={onClose} />
      ) : (
        <KeyForm
          path="/v1/api_keys"
          scope="admin"
          label="Create"
          initial={{ name: '', scopes: ['read'] }}
          mayGive={(scope) => mayDo(clients, scope)}
          onDone={setKey}
        />
      )}
    </Dialog>
  );
}

type Props = {
  /** Where it is created: in the account of the session, or in one of the operator's. */
  path: string;
  /** The scope that creating needs. */
  scope: string;
  label: string;
  initial: { name: string; scopes: string[] };
  mayGive(scope: string): boolean;
  onDone(key: string): void;
};

export function KeyForm({ path, scope, label, initial, mayGive, onDone }: Props) {
  const [name, setName] = useState(initial.name);
  const [chosen, setChosen] = useState(initial.scopes);
  const [cidrs, setCidrs] = useState('');
  const [end, setEnd] = useState('');
  const body = {
    name,
    scopes: chosen,
    ...(cidrs.trim() !== '' && { allowed_cidrs: cidrs.split(/[\s,]+/).filter(Boolean) }),
    ...(end !== '' && { expires_at: endOf(end) }),
  };
  return (
    <div className="form">
      <label>
        Name
        <input value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <fieldset>
        <legend>Scopes</legend>
        {Object.entries(abouts).map(([one, about]) => (
          <label key={one} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(one)}
              disabled={!mayGive(one)}
              onChange={(event) =>
                setChosen(event.target.checked ? [...chosen, one] : chosen.filter((other) => other !== one))
              }
            />
            {one}
            <span className="quiet">{mayGive(one) ? about : 'your key does not have it'}</span>
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
        label={label}
        kind="main"
        scope={scope}
        call={{ method: 'POST', path, body }}
        onDone={(answer) => onDone((answer as { key: string }).key)}
      />
    </div>
  );
}

/** The key works through its last day. */
function endOf(day: string): number {
  return Date.parse(day) / 1_000 + 86_400;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
