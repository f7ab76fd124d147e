import type { EndpointHealth } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { Url } from '../../parts/breakable.tsx';
import { Health } from '../../parts/endpoint-health.tsx';
import { Filter } from '../../parts/filter.tsx';
import { shorten } from '../../parts/format.ts';
import { Id } from '../../parts/id.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { ListTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { usePlace } from '../../router.tsx';
import { AccountLink } from './account-link.tsx';
import { placeOfEndpoint, Waiting } from './failing-endpoints.tsx';

export default function Endpoints() {
  const { operator } = useClients();
  const { query } = usePlace();
  const [status, failing] = [query.get('status'), query.get('failing')];
  return (
    <>
      <PageHeader title="Endpoints" about="The endpoints of all accounts. Each account fixes its own." />
      <Panel
        title="Webhook endpoints"
        aside={
          <>
            <Filter
              name="status"
              label="Status"
              options={[
                { value: 'enabled', label: 'enabled' },
                { value: 'disabled', label: 'disabled' },
              ]}
            />
            <Filter
              name="failing"
              label="Failing"
              options={[{ value: 'true', label: 'only failing ones' }]}
            />
          </>
        }
      >
        <ListTable<EndpointHealth>
          caption="Webhook endpoints, newest first"
          what="the endpoints"
          queryKey={['operator', 'endpoint_health', status, failing]}
          pollMs={pollMs}
          read={(page) =>
            operator.endpointHealth.list({
              ...page,
              ...(status !== null && { status: status as EndpointHealth['status'] }),
              ...(failing !== null && { failing: true }),
            })
          }
          keyOf={({ id }) => id}
          to={placeOfEndpoint}
          columns={[
            {
              name: 'URL',
              cell: ({ url }) => (
                <code>
                  <Url text={shorten(url)} />
                </code>
              ),
            },
            { name: 'Endpoint', cell: (endpoint) => <Id id={endpoint.id} to={placeOfEndpoint(endpoint)} /> },
            { name: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
            { name: 'Health', cell: (endpoint) => <Health endpoint={endpoint} /> },
            { name: 'Last error', cell: ({ last_error: last }) => last ?? '–', isWide: true },
            { name: 'Waiting', cell: ({ backlog }) => <Waiting backlog={backlog} />, isNumber: true },
            { name: 'Last success', cell: ({ last_success_at: last }) => <Time at={last} />, isTime: true },
          ]}
        />
      </Panel>
    </>
  );
}
