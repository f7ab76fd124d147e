import type { Product } from '@simplane/sdk';

/** Those that work wherever the eSIM's own product works, the cheapest first; then the others. */
export function byFit(
  products: readonly Product[],
  ownId: string,
): { fitting: Product[]; others: Product[] } {
  const own = products.find(({ id }) => id === ownId)?.countries ?? [];
  const sorted = products.toSorted((a, b) => a.price.amount - b.price.amount);
  const fits = ({ countries }: Product) => own.length > 0 && own.every((code) => countries.includes(code));
  return { fitting: sorted.filter(fits), others: sorted.filter((product) => !fits(product)) };
}
