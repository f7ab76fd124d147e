import type { Batch } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { number } from '../parts/format.ts';
import { Id } from '../parts/id.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProductChoice } from '../parts/product-choice.tsx';
import { Shown } from '../parts/reading.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useCreated, WhenFilter } from '../parts/when-filter.tsx';
import { useProductName, useProducts } from '../products.ts';
import { pollMs } from '../queries.ts';
import { navigate } from '../router.tsx';
import { BatchProgress } from './batch.tsx';

export function Batches() {
  const { api } = useClients();
  const at = useAccountPath();
  const productName = useProductName();
  const filter = useCreated();
  return (
    <Panel
      title="Batches"
      aside={
        <>
          <WhenFilter />
          <OrderBatch />
        </>
      }
    >
      <ListTable<Batch>
        caption="Batches, newest first"
        what="the batches"
        queryKey={['batches', filter]}
        pollMs={pollMs}
        read={(page) => api.batches.list({ ...page, ...filter })}
        keyOf={({ id }) => id}
        to={({ id }) => at(`/batches/${id}`)}
        empty="No batch yet. A batch orders up to 1,000 eSIMs at once."
        columns={[
          { name: 'Batch', cell: ({ id }) => <Id id={id} to={at(`/batches/${id}`)} /> },
          { name: 'Progress', cell: (batch) => <BatchProgress batch={batch} /> },
          { name: 'Orders', cell: ({ total }) => number(total) },
          {
            name: 'Product',
            cell: ({ product_id: id }) =>
              id === null ? 'Several' : <span title={id}>{productName(id)}</span>,
            isWide: true,
          },
          { name: 'Created', cell: ({ created }) => <Time at={created} />, isTime: true },
        ]}
      />
    </Panel>
  );
}

function OrderBatch() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ScopedButton scope="write" onClick={() => setOpen(true)}>
        Order a batch
      </ScopedButton>
      {isOpen && <BatchForm onClose={() => setOpen(false)} />}
    </>
  );
}

function BatchForm({ onClose }: { onClose(): void }) {
  const at = useAccountPath();
  const reading = useProducts();
  const [chosen, setChosen] = useState<string | null>(null);
  const [quantity, setQuantity] = useState('10');
  return (
    <Dialog title="Order a batch" onClose={onClose}>
      <Shown of={reading} what="the products">
        {(products) => {
          const product = chosen ?? products[0]?.id ?? '';
          return (
            <div className="form">
              <ProductChoice
                groups={[{ label: 'Products', products }]}
                chosen={product}
                onChange={setChosen}
              />
              <label>
                Number of eSIMs, up to 1,000
                <input
                  value={quantity}
                  inputMode="numeric"
                  autoComplete="off"
                  onChange={(event) => setQuantity(event.target.value.replaceAll(/\D/g, ''))}
                />
              </label>
              <Action
                label="Order all"
                kind="main"
                scope="write"
                call={{
                  ...{ method: 'POST', path: '/v1/batches' },
                  body: { product_id: product, quantity: Number(quantity) },
                }}
                onDone={(answer) => {
                  onClose();
                  navigate(at(`/batches/${(answer as { id: string }).id}`));
                }}
              />
            </div>
          );
        }}
      </Shown>
    </Dialog>
  );
}
