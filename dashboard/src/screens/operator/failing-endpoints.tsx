import type { EndpointHealth } from '@simplane/sdk';
import { useQuery } from '@tanstack/react-query';
import { useClients } from '../../client.ts';
import { Health } from '../../parts/endpoint-health.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { number, span } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { AccountLink } from './account-link.tsx';

const shown = 5;

/** Endpoints of any account that fail now. They are their owners' to fix, so an operator needs to know whom to tell what. */
export function FailingEndpoints() {
  const { operator } = useClients();
  const { data, error } = useQuery({
    queryKey: ['operator', 'endpoint_health', 'failing'],
    queryFn: () => operator.endpointHealth.list({ failing: true, limit: shown }),
    refetchInterval: pollMs,
  });
  return (
    <Panel
      title="Failing endpoints"
      aside={data?.has_more === true && <Link to="/endpoints?failing=true">All of them</Link>}
    >
      {error && <ErrorNote error={error} />}
      {data && (
        <Table<EndpointHealth>
          caption="Failing endpoints"
          rows={data.data}
          keyOf={({ id }) => id}
          to={placeOfEndpoint}
          empty="✓ No enabled endpoint is failing."
          columns={[
            { name: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
            {
              name: 'Endpoint',
              cell: (endpoint) => (
                <Link to={placeOfEndpoint(endpoint)}>
                  <code>{endpoint.url.slice(0, 70)}</code>
                </Link>
              ),
            },
            { name: 'Health', cell: (endpoint) => <Health endpoint={endpoint} /> },
            { name: 'Cause', cell: ({ last_error: last }) => <span className="words">{last ?? '–'}</span> },
            { name: 'Waiting', cell: ({ backlog }) => <Waiting backlog={backlog} />, isNumber: true },
            { name: 'What to do', cell: remedyOf, isText: true },
          ]}
        />
      )}
    </Panel>
  );
}

export function Waiting({ backlog: { count, age_seconds: age } }: Pick<EndpointHealth, 'backlog'>) {
  return `${number(count)}${age === null ? '' : `, ${span(age)}`}`;
}

export function placeOfEndpoint({ id, account_id: account }: EndpointHealth): string {
  return `/accounts/${account}/webhooks/${id}`;
}

function remedyOf({ status }: EndpointHealth): string {
  if (status === 'disabled')
    return 'Tell the account to fix its receiver, enable the endpoint and recover the missed events.';
  return 'Tell the account to fix its receiver. Deliveries are retried automatically.';
}
