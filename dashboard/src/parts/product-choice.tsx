import type { Product } from '@simplane/sdk';
import { bytes, price } from './format.ts';

type Group = { label: string; products: readonly Product[] };

type Props = {
  groups: readonly Group[];
  /** Ids that no list has. */
  others?: { label: string; ids: readonly string[] };
  chosen: string;
  onChange(id: string): void;
};

/** A product with its price, and below what one gets for it. */
export function ProductChoice({ groups, others, chosen, onChange }: Props) {
  const product = groups.flatMap(({ products }) => products).find(({ id }) => id === chosen);
  return (
    <>
      <label>
        Product
        <select value={chosen} onChange={(event) => onChange(event.target.value)}>
          {groups
            .filter(({ products }) => products.length > 0)
            .map(({ label, products }) => (
              <optgroup key={label} label={label}>
                {products.map(({ id, name, price: cost }) => (
                  <option key={id} value={id}>
                    {name} · {price(cost)}
                  </option>
                ))}
              </optgroup>
            ))}
          {others && (
            <optgroup label={others.label}>
              {others.ids.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      {product && <Offer product={product} />}
    </>
  );
}

function Offer({ product }: { product: Product }) {
  const { data_bytes: size, validity_days: days, countries, price: cost } = product;
  return (
    <p className="quiet">
      <b>{price(cost)}</b> · {size === null ? 'unlimited data' : bytes(size)} · {days}{' '}
      {days === 1 ? 'day' : 'days'} · {countries.length === 1 ? '1 country' : `${countries.length} countries`}
      : {countries.slice(0, 12).join(', ')}
      {countries.length > 12 && '…'}
    </p>
  );
}
