import type { Esim, Execution } from '@simplane/sdk';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Filter, optionsOf, TextFilter } from '../parts/filter.tsx';
import { Iccid, Id } from '../parts/id.tsx';
import { OrderButton } from '../parts/order-form.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { peek } from '../parts/reading.tsx';
import { Reference } from '../parts/reference.tsx';
import { State } from '../parts/state.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCreated, WhenFilter } from '../parts/when-filter.tsx';
import { useProductName, useProducts } from '../products.ts';
import { pollMs } from '../queries.ts';
import { setQuery, usePlace } from '../router.tsx';
import { Batches } from './batches.tsx';

/** Two lists: an order exists before its eSIM does, and the API pages each by its own cursor. */
export default function Esims() {
  const { query } = usePlace();
  const shown = query.get('view');
  return (
    <>
      <PageHeader title="Orders & eSIMs">
        <div className="halves" role="tablist" aria-label="What to list">
          {[
            { label: 'eSIMs', view: null },
            { label: 'Orders', view: 'orders' },
            { label: 'Batches', view: 'batches' },
          ].map(({ label, view }) => (
            <button
              key={label}
              type="button"
              role="tab"
              aria-selected={shown === view}
              className="control"
              onClick={() => setQuery({ view, after: null, status: null, error_code: null, batch: null })}
            >
              {label}
            </button>
          ))}
        </div>
        <OrderButton />
      </PageHeader>
      {shown === 'orders' ? <Orders /> : shown === 'batches' ? <Batches /> : <EsimList />}
    </>
  );
}

type ErrorCode = NonNullable<Execution['error']>['code'];

// As records, so that the compiler names a value that is missing.
const esimStatuses = namesOf<Esim['status']>({
  provisioning: true,
  provisioned: true,
  active: true,
  suspended: true,
  terminated: true,
  failed: true,
});
const orderStatuses = namesOf<Execution['status']>({
  queued: true,
  running: true,
  succeeded: true,
  failed: true,
});
const orderTypes = namesOf<Execution['type']>({
  'esim.provision': true,
  'bundle.add': true,
  'esim.suspend': true,
  'esim.resume': true,
  'esim.terminate': true,
});
const errorCodes = namesOf<ErrorCode>({
  declined: true,
  out_of_stock: true,
  network_unavailable: true,
  outcome_unknown: true,
  state_conflict: true,
  product_missing: true,
  canceled: true,
  superseded: true,
  internal: true,
});

function namesOf<Name extends string>(all: Record<Name, true>): Name[] {
  return Object.keys(all) as Name[];
}

function EsimList() {
  const { api } = useClients();
  const at = useAccountPath();
  const { query } = usePlace();
  const [status, product, reference] = [query.get('status'), query.get('product'), query.get('reference')];
  const productName = useProductName();
  const filter = {
    ...(status !== null && { status: status as Esim['status'] }),
    ...(product !== null && { product_id: product }),
    ...(reference !== null && { reference }),
    ...useCreated(),
  };
  return (
    <Panel
      title="eSIMs"
      aside={
        <>
          <TextFilter name="reference" label="Reference" />
          <Filter name="status" label="Status" options={optionsOf(esimStatuses)} />
          <TextFilter
            name="product"
            label="Product id"
            suggestions={peek(useProducts())?.map(({ id }) => id) ?? []}
          />
          <WhenFilter />
        </>
      }
    >
      <ListTable<Esim>
        caption="eSIMs, newest first"
        what="the eSIMs"
        queryKey={['esims', filter]}
        pollMs={pollMs}
        read={(page) => api.esims.list({ ...page, ...filter })}
        keyOf={({ iccid }) => iccid}
        to={({ iccid }) => at(`/esims/${iccid}`)}
        empty="No eSIM yet. Order one with the button above."
        columns={[
          { name: 'ICCID', cell: ({ iccid }) => <Iccid iccid={iccid} to={at(`/esims/${iccid}`)} /> },
          { name: 'Status', cell: ({ status }) => <State status={status} /> },
          { name: 'Profile', cell: ({ profile }) => profile.state, isWide: true },
          { name: 'Reference', cell: ({ reference }) => <Reference reference={reference} /> },
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
  const [status, type, code] = [query.get('status'), query.get('type'), query.get('error_code')];
  const [reference, batch] = [query.get('reference'), query.get('batch')];
  const filter = {
    ...(batch !== null && { batch_id: batch }),
    ...(status !== null && { status: status as Execution['status'] }),
    ...(type !== null && { type: type as Execution['type'] }),
    ...(code !== null && { error_code: code as ErrorCode }),
    ...(reference !== null && { reference }),
    ...useCreated(),
  };
  return (
    <Panel
      title="Orders"
      aside={
        <>
          <TextFilter name="reference" label="Reference" />
          <TextFilter name="batch" label="Batch" />
          <Filter name="status" label="Status" options={optionsOf(orderStatuses)} />
          <Filter name="type" label="Type" options={optionsOf(orderTypes)} />
          <Filter name="error_code" label="Cause" options={optionsOf(errorCodes)} />
          <WhenFilter />
        </>
      }
    >
      <ListTable<Execution>
        caption="Orders and changes, newest first"
        what="the orders"
        queryKey={['executions', filter]}
        pollMs={pollMs}
        read={(page) => api.executions.list({ ...page, ...filter })}
        keyOf={({ id }) => id}
        to={({ id }) => at(`/executions/${id}`)}
        empty="No order yet. Order an eSIM with the button above."
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
          { name: 'Reference', cell: ({ reference }) => <Reference reference={reference} /> },
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
