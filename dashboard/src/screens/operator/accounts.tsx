import type { Account } from '@simplane/sdk';
import { useState } from 'react';
import { useClients } from '../../client.ts';
import { Action } from '../../parts/action.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { number } from '../../parts/format.ts';
import { Id } from '../../parts/id.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { State } from '../../parts/state.tsx';
import { ListTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { KeyForm } from '../create-key.tsx';

export default function Accounts() {
  const { operator } = useClients();
  const [edited, setEdited] = useState<Account | 'new' | null>(null);
  return (
    <>
      <PageHeader
        title="Accounts"
        about="Open an account to see what its own keys see; with the scope operator_write you can also act for it. The audit log records both."
      >
        <button type="button" className="control main" onClick={() => setEdited('new')}>
          Create an account
        </button>
      </PageHeader>
      <Panel title="All accounts">
        <ListTable<Account>
          caption="Accounts, newest first"
          what="the accounts"
          queryKey={['operator', 'accounts']}
          pollMs={pollMs}
          read={(page) => operator.accounts.list(page)}
          keyOf={({ id }) => id}
          to={({ id }) => `/accounts/${id}`}
          columns={[
            { name: 'Account', cell: ({ id, name }) => <Link to={`/accounts/${id}`}>{name}</Link> },
            { name: 'Id', cell: ({ id }) => <Id id={id} />, isWide: true },
            { name: 'State', cell: ({ status }) => <State status={status} /> },
            { name: 'Endpoints', cell: ({ max_webhook_endpoints: max }) => limit(max), isNumber: true },
            { name: 'Open orders', cell: ({ max_open_executions: max }) => limit(max), isNumber: true },
            { name: 'Requests/s', cell: ({ requests_per_second: max }) => limit(max), isNumber: true },
            { name: 'Created', cell: ({ created }) => <Time at={created} />, isTime: true },
            {
              name: 'Change',
              cell: (account) =>
                account.status !== 'closed' && (
                  <button type="button" className="control" onClick={() => setEdited(account)}>
                    Change
                  </button>
                ),
            },
          ]}
        />
      </Panel>
      {edited === 'new' && <CreateAccount onClose={() => setEdited(null)} />}
      {edited !== null && edited !== 'new' && (
        <ChangeAccount account={edited} onClose={() => setEdited(null)} />
      )}
    </>
  );
}

function limit(max: number | null) {
  return max === null ? <span className="quiet">default</span> : number(max);
}

/** An account and its first key: without one, nobody can use it. */
function CreateAccount({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [account, setAccount] = useState<Account | null>(null);
  const [key, setKey] = useState<string | null>(null);
  if (account === null)
    return (
      <Dialog title="Create an account" onClose={onClose}>
        <div className="form">
          <label>
            Name
            <input value={name} onChange={(event) => setName(event.target.value)} />
          </label>
          <Action
            label="Create"
            kind="main"
            scope="operator"
            call={{ method: 'POST', path: '/v1/operator/accounts', body: { name } }}
            onDone={(answer) => setAccount(answer as Account)}
          />
        </div>
      </Dialog>
    );
  return (
    <Dialog title={`The first key of ${account.name}`} onClose={onClose}>
      {key !== null ? (
        <SecretOnce secret={key} what="key" onDone={onClose} />
      ) : (
        <KeyForm
          path={`/v1/operator/accounts/${account.id}/api_keys`}
          scope="operator"
          label="Create the key"
          initial={{ name: 'First key', scopes: ['read', 'write', 'admin'] }}
          mayGive={() => true}
          onDone={setKey}
        />
      )}
    </Dialog>
  );
}

const limits = [
  { name: 'max_webhook_endpoints', label: 'Maximum webhook endpoints' },
  { name: 'max_open_executions', label: 'Maximum open orders' },
  { name: 'requests_per_second', label: 'Requests per second' },
] as const;

const suspension = 'The account can then read and revoke keys, but not write. You can reactivate it.';

function ChangeAccount({ account, onClose }: { account: Account; onClose(): void }) {
  const [name, setName] = useState(account.name);
  const [values, setValues] = useState(() => ({
    max_webhook_endpoints: textOf(account.max_webhook_endpoints),
    max_open_executions: textOf(account.max_open_executions),
    requests_per_second: textOf(account.requests_per_second),
  }));
  const path = `/v1/operator/accounts/${account.id}`;
  const isSuspended = account.status === 'suspended';
  const body = {
    name,
    ...Object.fromEntries(
      limits.map(({ name }) => [name, values[name] === '' ? null : Number(values[name])]),
    ),
  };
  return (
    <Dialog title={account.name} onClose={onClose}>
      <div className="form">
        <label>
          Name
          <input value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        {limits.map(({ name, label }) => (
          <label key={name}>
            {label}, empty for the default
            <input
              inputMode="numeric"
              value={values[name]}
              onChange={(event) => setValues({ ...values, [name]: event.target.value.trim() })}
            />
          </label>
        ))}
        <div className="row">
          <Action
            label="Save"
            kind="main"
            scope="operator"
            call={{ method: 'PATCH', path, body }}
            onDone={onClose}
          />
          <Action
            label={isSuspended ? 'Reactivate' : 'Suspend'}
            kind="danger"
            scope="operator"
            {...(!isSuspended && { confirm: { id: account.id, effect: suspension } })}
            call={{ method: 'PATCH', path, body: { status: isSuspended ? 'active' : 'suspended' } }}
            onDone={onClose}
          />
        </div>
        <CloseAccount account={account} onDone={onClose} />
      </div>
    </Dialog>
  );
}

const closing =
  'Its keys, sessions, webhook endpoints and install links end, and orders that have not reached the network are canceled. The account is not opened again.';

function CloseAccount({ account, onDone }: { account: Account; onDone(): void }) {
  const [terminates, setTerminates] = useState(false);
  const query = terminates ? '?terminate_esims=true' : '';
  return (
    <div className="row">
      <label className="check">
        <input
          type="checkbox"
          checked={terminates}
          onChange={(event) => setTerminates(event.target.checked)}
        />
        Terminate its eSIMs too
      </label>
      <Action
        label="Close the account"
        kind="danger"
        scope="operator"
        confirm={{ id: account.id, effect: terminates ? `${closing} Its eSIMs are terminated.` : closing }}
        call={{ method: 'DELETE', path: `/v1/operator/accounts/${account.id}${query}` }}
        onDone={onDone}
      />
    </div>
  );
}

function textOf(max: number | null): string {
  return max === null ? '' : String(max);
}
