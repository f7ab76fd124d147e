import type { Esim, Product } from '@simplane/sdk';
import { useState } from 'react';
import { Action } from '../parts/action.tsx';
import { byFit } from '../parts/by-fit.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ReferenceField } from '../parts/order-form.tsx';
import { ProductChoice } from '../parts/product-choice.tsx';
import { Shown } from '../parts/reading.tsx';
import { ScopedButton } from '../parts/scoped-button.tsx';
import { useProducts } from '../products.ts';

export function TopUp({ esim }: { esim: Esim }) {
  const [isOpen, setOpen] = useState(false);
  const reading = useProducts();
  return (
    <>
      <ScopedButton scope="write" onClick={() => setOpen(true)}>
        Top up
      </ScopedButton>
      {isOpen && (
        <Dialog title="Top up" onClose={() => setOpen(false)}>
          <Shown of={reading} what="the products">
            {(products) => <Form esim={esim} products={products} onDone={() => setOpen(false)} />}
          </Shown>
        </Dialog>
      )}
    </>
  );
}

type Props = { esim: Esim; products: Product[]; onDone(): void };

function Form({ esim: { iccid, product_id: own }, products, onDone }: Props) {
  const { fitting, others } = byFit(products, own);
  const [chosen, setChosen] = useState((fitting[0] ?? others[0])?.id ?? '');
  const [reference, setReference] = useState('');
  const body = { product_id: chosen, ...(reference !== '' && { reference }) };
  if (chosen === '') return <p>There is no product to add.</p>;
  return (
    <div className="form">
      <ProductChoice
        groups={[
          { label: 'Fits this eSIM', products: fitting },
          { label: fitting.length === 0 ? 'Products' : 'Other regions', products: others },
        ]}
        chosen={chosen}
        onChange={setChosen}
      />
      <ReferenceField value={reference} onChange={setReference} />
      <Action
        label="Add bundle"
        kind="main"
        scope="write"
        call={{ method: 'POST', path: `/v1/esims/${iccid}/bundles`, body }}
        onDone={onDone}
      />
    </div>
  );
}
