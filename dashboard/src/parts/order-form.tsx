import { useState } from 'react';
import { useClients } from '../client.ts';
import { useProducts } from '../products.ts';
import { Action } from './action.tsx';
import { Dialog } from './dialog.tsx';
import { bytes } from './format.ts';

const misbehaving = [
  'prod_sandbox_slow',
  'prod_sandbox_flaky',
  'prod_sandbox_declined',
  'prod_sandbox_out_of_stock',
];

/** Orders an eSIM of a product. In the sandbox also products that misbehave on purpose. */
export function OrderForm({ onClose, onOrdered }: { onClose(): void; onOrdered(executionId: string): void }) {
  const { mode } = useClients();
  const { data } = useProducts();
  const [chosen, setChosen] = useState('');
  const product = chosen || data?.[0]?.id || '';
  return (
    <Dialog title="Order an eSIM" onClose={onClose}>
      <div className="form">
        <label>
          Product
          <select value={product} onChange={(event) => setChosen(event.target.value)}>
            {data?.map(({ id, name, data_bytes: size, validity_days: days }) => (
              <option key={id} value={id}>
                {name} · {size === null ? 'unlimited' : bytes(size)}, {days} days
              </option>
            ))}
            {mode === 'sandbox' && (
              <optgroup label="Test products: slow or failing on purpose">
                {misbehaving.map((id) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
              </optgroup>
            )}
          </select>
        </label>
        {product !== '' && (
          <Action
            label="Order"
            kind="main"
            scope="write"
            call={{ method: 'POST', path: '/v1/esims', body: { product_id: product } }}
            onDone={(answer) => onOrdered((answer as { id: string }).id)}
          />
        )}
      </div>
    </Dialog>
  );
}
