import type { EndpointHealth } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { Url } from '../../parts/breakable.tsx';
import { Health } from '../../parts/endpoint-health.tsx';
import { number, shorten, span } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { AllWell, peek, Shown, useReading } from '../../parts/reading.tsx';
import { Table } from '../../parts/table.tsx';
import { pollMs } from '../../queries.ts';
import { Link } from '../../router.tsx';
import { AccountLink } from './account-link.tsx';

const shown = 5;

/** Endpoints of any account that fail now. They are their owners' to fix, so an operator needs to know whom to tell what. */
export function FailingEndpoints() {
  const { operator } = useClients();
  const reading = useReading({
    queryKey: ['operator', 'endpoint_health', 'failing'],
    queryFn: () => operator.endpointHealth.list({ failing: true, limit: shown }),
    pollMs,
  });
  return (
    <Panel
      title="Failing endpoints"
      aside={peek(reading)?.has_more === true && <Link to="/endpoints?failing=true">All of them</Link>}
    >
      <Shown of={reading} what="the failing endpoints">
        {({ data }) => <FailingTable endpoints={data} />}
      </Shown>
    </Panel>
  );
}

function FailingTable({ endpoints }: { endpoints: EndpointHealth[] }) {
  return (
    <Table<EndpointHealth>
      caption="Failing endpoints"
      rows={endpoints}
      keyOf={({ id }) => id}
      to={placeOfEndpoint}
      empty={<AllWell>No enabled endpoint is failing.</AllWell>}
      columns={[
        { name: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
        {
          name: 'Endpoint',
          cell: (endpoint) => (
            <Link to={placeOfEndpoint(endpoint)}>
              <code>
                <Url text={shorten(endpoint.url)} />
              </code>
            </Link>
          ),
        },
        { name: 'Health', cell: (endpoint) => <Health endpoint={endpoint} /> },
        { name: 'Cause', cell: ({ last_error: last }) => <span className="words">{last ?? '–'}</span> },
        { name: 'Waiting', cell: ({ backlog }) => <Waiting backlog={backlog} />, isNumber: true },
        { name: 'What to do', cell: remedyOf, isText: true },
      ]}
    />
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
