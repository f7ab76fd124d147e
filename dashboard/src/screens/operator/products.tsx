import type { CatalogProduct } from '@simplane/sdk';
import { useState } from 'react';
import { useClients } from '../../client.ts';
import { Action } from '../../parts/action.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { bytes, price } from '../../parts/format.ts';
import { PageHeader, Panel } from '../../parts/panel.tsx';
import { State } from '../../parts/state.tsx';
import { ListTable } from '../../parts/table.tsx';

export default function Products() {
  const { operator } = useClients();
  const [edited, setEdited] = useState<CatalogProduct | 'new' | null>(null);
  return (
    <>
      <PageHeader title="Catalog" about="Accounts see listed and active products only.">
        <button type="button" className="control main" onClick={() => setEdited('new')}>
          Add a product
        </button>
      </PageHeader>
      <Panel title="Products">
        <ListTable<CatalogProduct>
          caption="Products"
          what="the products"
          queryKey={['operator', 'products']}
          read={(page) => operator.products.list(page)}
          keyOf={({ id }) => id}
          columns={[
            {
              name: 'Product',
              cell: (product) => (
                <button type="button" className="plain link" onClick={() => setEdited(product)}>
                  {product.name} <code className="quiet">{product.id}</code>
                </button>
              ),
            },
            {
              name: 'Data',
              isNumber: true,
              cell: ({ data_bytes: size }) => (size === null ? 'unlimited' : bytes(size)),
            },
            { name: 'Days', cell: ({ validity_days: days }) => days, isNumber: true },
            {
              name: 'Price',
              isNumber: true,
              cell: ({ price: cost }) => price(cost),
            },
            {
              name: 'Profile type',
              cell: ({ profile_type: type }) => <code>{type ?? '–'}</code>,
              isWide: true,
            },
            {
              name: 'State',
              cell: ({ active, listed }) => (
                <State
                  status={active ? 'active' : 'terminated'}
                  word={active ? (listed ? 'Active' : 'Unlisted') : 'Inactive'}
                />
              ),
            },
          ]}
        />
      </Panel>
      {edited !== null && (
        <EditProduct product={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </>
  );
}

const blank = {
  name: '',
  countries: ['FR'],
  data_bytes: 1_000_000_000,
  validity_days: 30,
  price: { amount: 500, currency: 'EUR' },
  speeds: ['4G'],
  active: true,
  listed: true,
  profile_type: null,
};

/** As JSON, because a product has lists and a price; the API checks it field by field. */
function EditProduct({ product, onClose }: { product: CatalogProduct | null; onClose(): void }) {
  const {
    id: known,
    object: _,
    created: __,
    ...fields
  } = product ?? { ...blank, id: '', object: '', created: 0 };
  const [id, setId] = useState(known);
  const [text, setText] = useState(JSON.stringify(fields, null, 2));
  const body = parse(text);
  const path = `/v1/operator/products/${encodeURIComponent(id)}`;
  return (
    <Dialog title={product ? product.name : 'Add a product'} onClose={onClose}>
      <div className="form">
        {!product && (
          <label>
            Id
            <input value={id} onChange={(event) => setId(event.target.value)} spellCheck={false} />
          </label>
        )}
        <label>
          Fields
          <textarea
            rows={16}
            value={text}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {body === null ? (
          <p className="bad">✕ This is not JSON.</p>
        ) : (
          <div className="row">
            <Action
              label="Save"
              kind="main"
              scope="operator"
              call={{ method: 'PUT', path, body }}
              onDone={onClose}
            />
            {product?.active && (
              <Action
                label="Deactivate"
                kind="danger"
                scope="operator"
                confirm={{ effect: 'From now on, it cannot be ordered. eSIMs that have it keep it.' }}
                call={{ method: 'POST', path: `${path}/deactivate` }}
                onDone={onClose}
              />
            )}
          </div>
        )}
      </div>
    </Dialog>
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
