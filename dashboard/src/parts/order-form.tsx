import type { Product } from '@simplane/sdk';
import { useState } from 'react';
import { useAccountPath } from '../account-path.ts';
import { useClients } from '../client.ts';
import { useProducts } from '../products.ts';
import { navigate } from '../router.tsx';
import { Action } from './action.tsx';
import { Dialog } from './dialog.tsx';
import { ProductChoice } from './product-choice.tsx';
import { Shown } from './reading.tsx';
import { ScopedButton } from './scoped-button.tsx';

const misbehaving = [
  'prod_sandbox_held',
  'prod_sandbox_slow',
  'prod_sandbox_flaky',
  'prod_sandbox_declined',
  'prod_sandbox_out_of_stock',
];

/** What a new order takes over from one that failed. */
export type Again = { productId: string; reference?: string | null };

/** A button with the form to order an eSIM; afterwards the order is shown. */
export function OrderButton({
  label = 'Order an eSIM',
  kind = 'main',
  again,
}: {
  label?: string;
  kind?: 'main' | 'plain';
  again?: Again;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ScopedButton scope="write" kind={kind === 'main' ? kind : undefined} onClick={() => setOpen(true)}>
        {label}
      </ScopedButton>
      {isOpen && <OrderForm onClose={() => setOpen(false)} {...(again && { again })} />}
    </>
  );
}

function OrderForm({ onClose, again }: { onClose(): void; again?: Again }) {
  const reading = useProducts();
  return (
    <Dialog title="Order an eSIM" onClose={onClose}>
      <Shown of={reading} what="the products">
        {(products) => <Fields products={products} onClose={onClose} {...(again && { again })} />}
      </Shown>
    </Dialog>
  );
}

type Props = { products: Product[]; onClose(): void; again?: Again };

/** In the sandbox there are also products that misbehave on purpose. */
function Fields({ products, onClose, again }: Props) {
  const { mode } = useClients();
  const at = useAccountPath();
  const [product, setProduct] = useState(again?.productId ?? products[0]?.id ?? '');
  const [reference, setReference] = useState(again?.reference ?? '');
  const [eid, setEid] = useState('');
  const [pairs, setPairs] = useState('');
  const metadata = metadataOf(pairs);
  const body = {
    product_id: product,
    ...(reference !== '' && { reference }),
    ...(eid !== '' && { eid }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  return (
    <div className="form">
      <ProductChoice
        groups={[{ label: 'Products', products }]}
        {...(mode === 'sandbox' && {
          others: { label: 'Test products: waiting, slow or failing on purpose', ids: misbehaving },
        })}
        chosen={product}
        onChange={setProduct}
      />
      <ReferenceField value={reference} onChange={setReference} />
      <label>
        Metadata, a line each: name=value
        <textarea
          rows={2}
          value={pairs}
          spellCheck={false}
          placeholder="customer=cus_819"
          onChange={(event) => setPairs(event.target.value)}
        />
      </label>
      <label>
        EID of the device, if only that one may install it
        <input
          value={eid}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => setEid(event.target.value.replaceAll(/\s/g, ''))}
        />
      </label>
      <Action
        label="Order"
        kind="main"
        scope="write"
        call={{ method: 'POST', path: '/v1/esims', body }}
        onDone={(answer) => {
          onClose();
          navigate(at(`/executions/${(answer as { id: string }).id}`));
        }}
      />
    </div>
  );
}

export function ReferenceField({ value, onChange }: { value: string; onChange(reference: string): void }) {
  return (
    <label>
      Reference, your own number for it
      <input
        value={value}
        maxLength={100}
        autoComplete="off"
        spellCheck={false}
        placeholder="TRV-1007"
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function metadataOf(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => line.split('='));
  return Object.fromEntries(
    lines
      .map(([name = '', ...value]) => [name.trim(), value.join('=').trim()] as const)
      .filter(([name]) => name !== ''),
  );
}
