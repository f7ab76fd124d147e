import type { Esim, Execution } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { mayDo, useClients } from '../client.ts';
import { Filter, TextFilter } from '../parts/filter.tsx';
import { Iccid, Id } from '../parts/id.tsx';
import { OrderForm } from '../parts/order-form.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useProductName } from '../products.ts';
import { pollMs } from '../queries.ts';
import { navigate, setQuery, usePlace } from '../router.tsx';

/** Two lists: an order exists before its eSIM does, and the API pages each by its own cursor. */
export default function Esims() {
  const clients = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const isOrders = query.get('view') === 'orders';
  const [isOrdering, setOrdering] = useState(false);
  return (
    <>
      <PageHeader title="Orders & eSIMs">
        <div className="halves" role="tablist" aria-label="What to list">
          {[
            { label: 'eSIMs', isShown: !isOrders, view: null },
            { label: 'Orders', isShown: isOrders, view: 'orders' },
          ].map(({ label, isShown, view }) => (
            <button
              key={label}
              type="button"
              role="tab"
              aria-selected={isShown}
              className="control"
              onClick={() => setQuery({ view, after: null, status: null })}
            >
              {label}
            </button>
          ))}
        </div>
        <button
          type="button"
          className="control main"
          disabled={!mayDo(clients, 'write')}
          title={mayDo(clients, 'write') ? undefined : 'This needs a key with the scope “write”.'}
          onClick={() => setOrdering(true)}
        >
          Order an eSIM
        </button>
      </PageHeader>
      {isOrders ? <Orders /> : <EsimList />}
      {isOrdering && (
        <OrderForm
          onClose={() => setOrdering(false)}
          onOrdered={(id) => {
            setOrdering(false);
            navigate(at(`/executions/${id}`));
          }}
        />
      )}
    </>
  );
}

const esimStatuses = ['provisioning', 'provisioned', 'active', 'suspended', 'terminated', 'failed'] as const;
const orderStatuses = ['queued', 'running', 'succeeded', 'failed'] as const;
const optionsOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

function EsimList() {
  const { api } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const status = query.get('status');
  const product = query.get('product');
  const productName = useProductName();
  return (
    <Panel
      title="eSIMs"
      aside={
        <>
          <Filter name="status" label="Status" options={optionsOf(esimStatuses)} />
          <TextFilter name="product" label="Product id" />
        </>
      }
    >
      <ListTable<Esim>
        caption="eSIMs, newest first"
        queryKey={['esims', status, product]}
        pollMs={pollMs}
        read={(page) =>
          api.esims.list({
            ...page,
            ...(status !== null && { status: status as Esim['status'] }),
            ...(product !== null && { product_id: product }),
          })
        }
        keyOf={({ iccid }) => iccid}
        to={({ iccid }) => at(`/esims/${iccid}`)}
        empty="No eSIM matches. Order one with the button above."
        columns={[
          { name: 'ICCID', cell: ({ iccid }) => <Iccid iccid={iccid} to={at(`/esims/${iccid}`)} /> },
          { name: 'Status', cell: ({ status }) => <State status={status} /> },
          { name: 'Profile', cell: ({ profile }) => profile.state, isWide: true },
          { name: 'Product', cell: ({ product_id: id }) => <span title={id}>{productName(id)}</span> },
          { name: 'Metadata', cell: ({ metadata }) => <Metadata metadata={metadata} />, isWide: true },
          { name: 'Created', cell: ({ created }) => <Time at={created} />, isTime: true },
        ]}
      />
    </Panel>
  );
}

function Metadata({ metadata }: { metadata: Record<string, string> }) {
  return Object.entries(metadata)
    .slice(0, 3)
    .map(([key, value]) => (
      <span key={key} className="chip">
        {key}={value.length > 40 ? `${value.slice(0, 40)}…` : value}
      </span>
    ));
}

function Orders() {
  const { api } = useClients();
  const productName = useProductName();
  const at = useAccountPath();
  const { query } = usePlace();
  const status = query.get('status');
  return (
    <Panel title="Orders" aside={<Filter name="status" label="Status" options={optionsOf(orderStatuses)} />}>
      <ListTable<Execution>
        caption="Orders and changes, newest first"
        queryKey={['executions', status]}
        pollMs={pollMs}
        read={(page) =>
          api.executions.list({
            ...page,
            ...(status !== null && { status: status as Execution['status'] }),
          })
        }
        keyOf={({ id }) => id}
        to={({ id }) => at(`/executions/${id}`)}
        empty="No order matches."
        columns={[
          { name: 'Execution', cell: ({ id }) => <Id id={id} to={at(`/executions/${id}`)} /> },
          { name: 'Type', cell: ({ type }) => <code>{type}</code> },
          {
            name: 'Status',
            cell: ({ status, error }) => (
              <>
                <State status={status} /> {error && <code className="bad">{error.code}</code>}
              </>
            ),
          },
          {
            name: 'eSIM',
            cell: ({ iccid }) =>
              iccid === null ? '–' : <Iccid iccid={iccid} to={at(`/esims/${iccid}`)} isShort />,
          },
          {
            name: 'Product',
            cell: ({ product_id: id }) => id !== null && <span title={id}>{productName(id)}</span>,
            isWide: true,
          },
          { name: 'Created', cell: ({ created }) => <Time at={created} />, isTime: true },
        ]}
      />
    </Panel>
  );
}
