import type { WebhookEndpoint } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Breakable, Url } from '../parts/breakable.tsx';
import { Health, MissedCount } from '../parts/endpoint-health.tsx';
import { shorten } from '../parts/format.ts';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';
import { CreateEndpoint } from './endpoint-form.tsx';

export default function Webhooks() {
  const clients = useClients();
  const at = useAccountPath();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <PageHeader title="Webhooks">
        <ScopedButton scope="write" kind="main" onClick={() => setCreating(true)}>
          Add an endpoint
        </ScopedButton>
      </PageHeader>
      <Panel title="Endpoints">
        <ListTable<WebhookEndpoint>
          caption="Webhook endpoints, newest first"
          what="the endpoints"
          queryKey={['webhook_endpoints']}
          pollMs={pollMs}
          read={(page) => clients.api.webhookEndpoints.list(page)}
          keyOf={({ id }) => id}
          to={({ id }) => at(`/webhooks/${id}`)}
          empty="No endpoint yet. Add one, or follow events with “simplane listen”."
          columns={[
            {
              name: 'URL',
              cell: ({ id, url }) => (
                <Link to={at(`/webhooks/${id}`)}>
                  <Url text={shorten(url)} />
                </Link>
              ),
            },
            { name: 'Health', cell: (endpoint) => <Health endpoint={endpoint} /> },
            {
              name: 'Events',
              cell: ({ enabled_event_types: types }) => (
                <code>
                  <Breakable text={types.slice(0, 3).join(', ') + (types.length > 3 ? ' …' : '')} />
                </code>
              ),
            },
            { name: 'Missed', cell: (endpoint) => <MissedCount endpoint={endpoint} /> },
            { name: 'Last success', cell: ({ last_success_at: last }) => <Time at={last} />, isTime: true },
          ]}
        />
      </Panel>
      {isCreating && <CreateEndpoint onClose={() => setCreating(false)} />}
    </>
  );
}
