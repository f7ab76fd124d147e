import type { Product } from '@simplane/sdk';
import { useClients } from '../client.ts';
import { TextFilter } from '../parts/filter.tsx';
import { bytes, price } from '../parts/format.ts';
import { OrderButton } from '../parts/order-form.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';
import { ListTable } from '../parts/table.tsx';
import { usePlace } from '../router.tsx';

/** What can be ordered, where it works and what it costs. */
export default function Catalog() {
  const { api } = useClients();
  const country = usePlace().query.get('country')?.toUpperCase();
  return (
    <>
      <PageHeader title="Catalog" about="The products that you can order." />
      <Panel title="Products" aside={<TextFilter name="country" label="Country code" />}>
        <ListTable<Product>
          caption="Products"
          what="the products"
          queryKey={['products', 'list', country]}
          read={(page) => api.products.list({ ...page, ...(country && { country }) })}
          keyOf={({ id }) => id}
          empty="The operator lists no product."
          columns={[
            {
              name: 'Product',
              cell: ({ id, name }) => (
                <>
                  {name} <code className="quiet foreign">{id}</code>
                </>
              ),
            },
            { name: 'Price', cell: ({ price: cost }) => price(cost), isNumber: true },
            {
              name: 'Data',
              isNumber: true,
              cell: ({ data_bytes: size }) => (size === null ? 'unlimited' : bytes(size)),
            },
            { name: 'Days', cell: ({ validity_days: days }) => days, isNumber: true },
            { name: 'Countries', cell: ({ countries }) => <Countries countries={countries} />, isText: true },
            {
              name: 'Order',
              cell: ({ id }) => <OrderButton label="Order" kind="plain" again={{ productId: id }} />,
            },
          ]}
        />
      </Panel>
    </>
  );
}

const shown = 8;

function Countries({ countries }: { countries: string[] }) {
  if (countries.length <= shown) return countries.join(', ');
  return (
    <details>
      <summary>
        {countries.length} countries: {countries.slice(0, shown).join(', ')}…
      </summary>
      {countries.join(', ')}
    </details>
  );
}
