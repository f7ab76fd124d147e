import type { ApiKey } from '@simplane/sdk';
import { useState } from 'react';
import { mayDo, useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Id } from '../parts/id.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';

export default function Keys() {
  const clients = useClients();
  const [isCreating, setCreating] = useState(false);
  const [rolled, setRolled] = useState<string | null>(null);
  const isAdmin = mayDo(clients, 'admin') || clients.isOperator;
  return (
    <>
      <PageHeader title="API keys" about="A key is shown once, when it is created or rolled.">
        <button
          type="button"
          className="control main"
          disabled={!mayDo(clients, 'admin')}
          title={mayDo(clients, 'admin') ? undefined : 'This needs a key with the scope “admin”.'}
          onClick={() => setCreating(true)}
        >
          Create a key
        </button>
      </PageHeader>
      <Panel title="Keys">
        {isAdmin ? (
          <KeyList onRolled={setRolled} />
        ) : (
          <div className="empty">Listing keys needs a key with the scope “admin”.</div>
        )}
      </Panel>
      {isCreating && <CreateKey onClose={() => setCreating(false)} />}
      {rolled !== null && (
        <Dialog title="The new key" onClose={() => setRolled(null)}>
          <SecretOnce secret={rolled} what="key" onDone={() => setRolled(null)} />
        </Dialog>
      )}
    </>
  );
}

function KeyList({ onRolled }: { onRolled(key: string): void }) {
  const { api, apiKey } = useClients();
  return (
    <ListTable<ApiKey>
      caption="API keys, newest first"
      queryKey={['api_keys']}
      pollMs={pollMs}
      read={(page) => api.apiKeys.list(page)}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Name',
          cell: ({ id, name, last4 }) => (
            <>
              {name} <code>…{last4}</code> {id === apiKey.id && <span className="chip">this session</span>}
            </>
          ),
        },
        { name: 'Id', cell: ({ id }) => <Id id={id} />, isWide: true },
        { name: 'Scopes', cell: ({ scopes }) => <code>{scopes.join(' ')}</code> },
        { name: 'State', cell: (key) => <KeyState apiKey={key} /> },
        { name: 'Last used', cell: ({ last_used_at: used }) => <Time at={used} />, isTime: true },
        {
          name: 'Actions',
          cell: (key) =>
            key.revoked_at === null && (
              <span className="row">
                <Action
                  label="Roll"
                  scope="admin"
                  call={{
                    method: 'POST',
                    path: `/v1/api_keys/${key.id}/roll`,
                    body: { expires_in: 86_400 },
                  }}
                  onDone={(answer) => onRolled((answer as { key: string }).key)}
                />
                <Action
                  label="Revoke"
                  kind="danger"
                  scope="admin"
                  confirm={{
                    id: key.id,
                    effect: 'The key stops working within 5 seconds. It cannot be undone.',
                  }}
                  call={{ method: 'DELETE', path: `/v1/api_keys/${key.id}` }}
                />
              </span>
            ),
        },
      ]}
    />
  );
}

function KeyState({ apiKey: { revoked_at: revoked, expires_at: end } }: { apiKey: ApiKey }) {
  if (revoked !== null) return <State status="revoked" />;
  if (end === null) return <State status="active" />;
  const isActive = end * 1_000 > Date.now();
  return (
    <span>
      <State status={isActive ? 'active' : 'expired'} />{' '}
      <span className="quiet">
        {isActive && 'ends '}
        <Time at={end} />
      </span>
    </span>
  );
}

const scopes = ['read', 'write', 'install', 'admin', 'network'];

function CreateKey({ onClose }: { onClose(): void }) {
  const clients = useClients();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>(['read']);
  const [cidrs, setCidrs] = useState('');
  const [key, setKey] = useState<string | null>(null);
  const body = {
    name,
    scopes: chosen,
    ...(cidrs.trim() !== '' && { allowed_cidrs: cidrs.split(/[\s,]+/).filter(Boolean) }),
  };
  return (
    <Dialog title="Create a key" onClose={onClose}>
      {key !== null ? (
        <SecretOnce secret={key} what="key" onDone={onClose} />
      ) : (
        <div className="form">
          <label>
            Name
            <input value={name} onChange={(event) => setName(event.target.value)} />
          </label>
          <fieldset>
            <legend>Scopes</legend>
            {scopes.map((scope) => (
              <label key={scope} className="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(scope)}
                  disabled={!mayDo(clients, scope)}
                  onChange={(event) =>
                    setChosen(
                      event.target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope),
                    )
                  }
                />
                {scope}
                {!mayDo(clients, scope) && <span className="quiet"> (your key does not have it)</span>}
              </label>
            ))}
          </fieldset>
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
      )}
    </Dialog>
  );
}
