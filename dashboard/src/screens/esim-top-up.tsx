import { useState } from 'react';
import { mayDo, useClients } from '../client.ts';
import { Action } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useProducts } from '../products.ts';

export function TopUp({ iccid }: { iccid: string }) {
  const clients = useClients();
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState('');
  const { data } = useProducts({ enabled: isOpen });
  const product = chosen || data?.[0]?.id || '';
  return (
    <>
      <button
        type="button"
        className="control"
        disabled={!mayDo(clients, 'write')}
        onClick={() => setOpen(true)}
      >
        Top up
      </button>
      {isOpen && (
        <Dialog title="Top up" onClose={() => setOpen(false)}>
          <div className="form">
            <label>
              Product
              <select value={product} onChange={(event) => setChosen(event.target.value)}>
                {data?.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            {product !== '' && (
              <Action
                label="Add bundle"
                kind="main"
                scope="write"
                call={{ method: 'POST', path: `/v1/esims/${iccid}/bundles`, body: { product_id: product } }}
                onDone={() => setOpen(false)}
              />
            )}
          </div>
        </Dialog>
      )}
    </>
  );
}
