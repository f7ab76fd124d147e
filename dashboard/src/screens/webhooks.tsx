import type { WebhookEndpoint } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { mayDo, useClients } from '../client.ts';
import { Health } from '../parts/endpoint-health.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { pollMs } from '../queries.ts';
import { Link } from '../router.tsx';
import { CreateEndpoint } from './create-endpoint.tsx';

export default function Webhooks() {
  const clients = useClients();
  const at = useAccountPath();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <PageHeader title="Webhooks">
        <button
          type="button"
          className="control main"
          disabled={!mayDo(clients, 'write')}
          onClick={() => setCreating(true)}
        >
          Add an endpoint
        </button>
      </PageHeader>
      <Panel title="Endpoints">
        <ListTable<WebhookEndpoint>
          caption="Webhook endpoints, newest first"
          queryKey={['webhook_endpoints']}
          pollMs={pollMs}
          read={(page) => clients.api.webhookEndpoints.list(page)}
          keyOf={({ id }) => id}
          to={({ id }) => at(`/webhooks/${id}`)}
          empty="No endpoint yet. Add one, or follow events with “simplane listen”."
          columns={[
            { name: 'URL', cell: ({ id, url }) => <Link to={at(`/webhooks/${id}`)}>{shorten(url)}</Link> },
            { name: 'Health', cell: (endpoint) => <Health endpoint={endpoint} /> },
            {
              name: 'Events',
              cell: ({ enabled_event_types: types }) => (
                <code>
                  {types.slice(0, 3).join(', ')}
                  {types.length > 3 && ' …'}
                </code>
              ),
            },
            { name: 'Last success', cell: ({ last_success_at: last }) => <Time at={last} />, isTime: true },
          ]}
        />
      </Panel>
      {isCreating && <CreateEndpoint onClose={() => setCreating(false)} />}
    </>
  );
}

function shorten(url: string): string {
  const text = url.replace(/^https?:\/\//, '');
  return text.length > 70 ? `${text.slice(0, 70)}…` : text;
}
