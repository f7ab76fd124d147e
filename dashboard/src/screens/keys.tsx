import type { ApiKey } from '@simplane/sdk';
import { useState } from 'react';
import { mayDo, useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { exact } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { CreateKey } from './create-key.tsx';

export default function Keys() {
  const clients = useClients();
  const [isCreating, setCreating] = useState(false);
  const [rolled, setRolled] = useState<string | null>(null);
  const isAdmin = mayDo(clients, 'admin') || clients.isOperator;
  return (
    <>
      <PageHeader title="API keys" about="A key is shown once, when it is created or rolled.">
        <ScopedButton scope="admin" kind="main" onClick={() => setCreating(true)}>
          Create a key
        </ScopedButton>
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
      what="the keys"
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
                  confirm={{ effect: rollEffect(key) }}
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

/** What ends when. The old key's own expiry may come first. */
function rollEffect({ name, last4, expires_at: end }: ApiKey): string {
  const inADay = Math.floor(Date.now() / 1_000) + 86_400;
  const until = end === null ? inADay : Math.min(end, inADay);
  return `You get a new key with the same scopes. The old one, ${name} …${last4}, works until ${exact(until)} and no longer.`;
}
