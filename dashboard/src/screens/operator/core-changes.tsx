import type { ServiceChange } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { Action } from '../../parts/action.tsx';
import { Iccid } from '../../parts/id.tsx';
import { Panel } from '../../parts/panel.tsx';
import { AllWell, Shown, useReading } from '../../parts/reading.tsx';
import { ServiceState } from '../../parts/service.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pollMs } from '../../queries.ts';
import { AccountLink } from './account-link.tsx';

const shown = 20;

/** The eSIMs whose newest state the core does not have. */
export function CoreChanges() {
  return (
    <>
      <Changes state="pending" />
      <Changes state="refused" />
    </>
  );
}

const texts = {
  pending: {
    title: 'The core is behind on',
    what: 'what the core does not have',
    empty: 'The core has the state of every eSIM, or there is no core.',
    footer: 'Sent until the core answers. Newest first.',
  },
  refused: {
    title: 'The core has refused',
    what: 'what the core refused',
    empty: 'The core has refused nothing.',
    footer: 'Not sent again until the eSIM changes, or until everything is sent again.',
  },
};

function Changes({ state }: { state: ServiceChange['state'] }) {
  const { operator } = useClients();
  const reading = useReading({
    queryKey: ['operator', 'service_changes', state],
    queryFn: async () => (await operator.serviceChanges.list({ state, limit: shown })).data,
    pollMs,
  });
  const { title, what, empty, footer } = texts[state];
  return (
    <Panel title={title} footer={footer} aside={state === 'refused' && <Resync />}>
      <Shown of={reading} what={what}>
        {(changes) => (
          <Table<ServiceChange>
            caption={title}
            rows={changes}
            keyOf={({ account_id, iccid }) => `${account_id} ${iccid}`}
            to={placeOf}
            empty={<AllWell>{empty}</AllWell>}
            columns={[
              { name: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
              { name: 'eSIM', cell: (change) => <Iccid iccid={change.iccid} to={placeOf(change)} /> },
              { name: 'State', cell: ({ service }) => <ServiceState service={service} /> },
              { name: 'Since', cell: ({ since }) => <Time at={since} />, isTime: true },
              {
                name: 'Last answer',
                cell: ({ error }) => <span className="words">{error?.message ?? 'none yet'}</span>,
                isText: true,
              },
            ]}
          />
        )}
      </Shown>
    </Panel>
  );
}

function Resync() {
  return (
    <Action
      label="Send everything again"
      scope="operator"
      confirm={{ effect: 'The core gets the state of every eSIM again, and what it refused.' }}
      call={{ method: 'POST', path: '/v1/operator/core/resync' }}
    />
  );
}

function placeOf({ account_id: account, iccid }: ServiceChange): string {
  return `/accounts/${account}/esims/${iccid}`;
}
