import type { WebhookEvent } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { EventAbout } from '../parts/event-about.tsx';
import { EventWhat } from '../parts/event-what.tsx';
import { Filter, TextFilter } from '../parts/filter.tsx';
import { Id } from '../parts/id.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { usePlace } from '../router.tsx';
import { LiveMark } from './live-mark.tsx';
import { SendTestEvent } from './send-test-event.tsx';

export default function Events() {
  const { api, mode } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const [isSending, setSending] = useState(false);
  const [type, delivery, iccid] = [query.get('type'), query.get('delivery'), query.get('iccid')];
  return (
    <>
      <PageHeader title="Events">
        {mode === 'sandbox' && (
          <button type="button" className="control" onClick={() => setSending(true)}>
            Send a test event
          </button>
        )}
      </PageHeader>
      <Panel
        title="Log"
        aside={
          <>
            <LiveMark />
            <TextFilter name="type" label="Type" />
            <TextFilter name="iccid" label="ICCID" />
            <Filter
              name="delivery"
              label="Delivery"
              options={[
                { value: 'failed', label: 'failed' },
                { value: 'pending', label: 'pending' },
              ]}
            />
          </>
        }
      >
        <ListTable<WebhookEvent>
          caption="Events, newest first"
          queryKey={['events', type, delivery, iccid]}
          read={(page) =>
            api.events.list({
              ...page,
              ...(type !== null && { type }),
              ...(iccid !== null && { iccid }),
              ...(delivery !== null && { delivery: delivery as 'failed' | 'pending' }),
            })
          }
          keyOf={({ id }) => id}
          to={({ id }) => at(`/events/${id}`)}
          empty="No event matches."
          columns={[
            { name: 'When', cell: ({ created }) => <Time at={created} />, isTime: true },
            { name: 'Type', cell: ({ type }) => <code>{type}</code> },
            { name: 'About', cell: (event) => <EventAbout data={event.data as Record<string, unknown>} /> },
            { name: 'What', cell: (event) => <EventWhat event={event} /> },
            { name: 'Event', cell: ({ id }) => <Id id={id} to={at(`/events/${id}`)} /> },
          ]}
        />
      </Panel>
      {isSending && <SendTestEvent onClose={() => setSending(false)} />}
    </>
  );
}
