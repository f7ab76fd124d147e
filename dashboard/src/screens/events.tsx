import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { familyOf, useEventTypes } from '../event-types.ts';
import { type EventRow, listWithDelivery } from '../events-with-delivery.ts';
import { Action } from '../parts/action.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { EventAbout } from '../parts/event-about.tsx';
import { EventWhat } from '../parts/event-what.tsx';
import { Filter, optionsOf, TextFilter } from '../parts/filter.tsx';
import { Id } from '../parts/id.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { peek } from '../parts/reading.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCreated, WhenFilter } from '../parts/when-filter.tsx';
import { Link, usePlace } from '../router.tsx';
import { LiveMark } from './live-mark.tsx';
import { SendTestEvent } from './send-test-event.tsx';

const deliveries = ['undelivered', 'pending', 'failed', 'canceled'] as const;

export default function Events() {
  const { api, mode } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const [isSending, setSending] = useState(false);
  const [type, delivery] = [query.get('type'), query.get('delivery')];
  const [iccid, reference] = [query.get('iccid'), query.get('reference')];
  const filter = {
    ...(type !== null && { type }),
    ...(iccid !== null && { iccid }),
    ...(reference !== null && { reference }),
    ...(delivery !== null && { delivery: delivery as (typeof deliveries)[number] }),
    ...useCreated(),
  };
  return (
    <>
      <PageHeader title="Events">
        {mode === 'sandbox' && (
          <ScopedButton scope="write" onClick={() => setSending(true)}>
            Send a test event
          </ScopedButton>
        )}
      </PageHeader>
      <Panel title="Log" aside={<Filters />}>
        <ListTable<EventRow>
          caption="Events, newest first"
          what="the events"
          queryKey={['events', filter]}
          read={(page) => listWithDelivery(api, { ...page, ...filter })}
          keyOf={({ id }) => id}
          to={({ id }) => at(`/events/${id}`)}
          above={(events) => <SendAgain events={events} />}
          empty="No event yet. Order an eSIM, and its events appear here."
          columns={[
            { name: 'When', cell: ({ created }) => <Time at={created} />, isTime: true },
            {
              name: 'Type',
              cell: ({ id, type }) => (
                <Link to={at(`/events/${id}`)} className="subtle">
                  <code>
                    <Breakable text={type} />
                  </code>
                </Link>
              ),
            },
            { name: 'About', cell: (event) => <EventAbout data={event.data as Record<string, unknown>} /> },
            { name: 'What', cell: (event) => <EventWhat event={event} />, isWide: true },
            { name: 'Delivery', cell: ({ delivery }) => <Delivered delivery={delivery} /> },
            { name: 'Event', cell: ({ id }) => <Id id={id} to={at(`/events/${id}`)} />, isWide: true },
          ]}
        />
      </Panel>
      {isSending && <SendTestEvent onClose={() => setSending(false)} />}
    </>
  );
}

function Filters() {
  const types = peek(useEventTypes())?.map(({ type }) => type) ?? [];
  return (
    <>
      <LiveMark />
      <TextFilter name="type" label="Type" suggestions={[...new Set(types.map(familyOf)), ...types]} />
      <TextFilter name="iccid" label="ICCID" />
      <TextFilter name="reference" label="Reference" />
      <Filter name="delivery" label="Delivery" options={optionsOf(deliveries)} />
      <WhenFilter />
    </>
  );
}

/** Only where the filter shows what did not arrive. */
function SendAgain({ events }: { events: EventRow[] }) {
  const delivery = usePlace().query.get('delivery');
  if (events.length === 0 || delivery === null || delivery === 'pending') return null;
  const count = events.length === 1 ? 'this event' : `these ${events.length} events`;
  return (
    <div className="body">
      <Action
        label={`Send ${count} again`}
        scope="write"
        confirm={{
          effect: `Every enabled endpoint that is subscribed gets ${count}, also one that has it: receivers know a repeat by the event’s id. To send one endpoint only what it missed, open it.`,
        }}
        call={{
          method: 'POST',
          path: '/v1/events/replay',
          body: { event_ids: events.map(({ id }) => id) },
        }}
      />
    </div>
  );
}

function Delivered({ delivery }: { delivery: EventRow['delivery'] }) {
  if (delivery !== 'done') return <State status={delivery} />;
  return (
    <span title="Every endpoint that was subscribed has it.">
      <State status="delivered" word="Done" />
    </span>
  );
}
