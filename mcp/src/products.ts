import type { Product, Simplane } from '@simplane/sdk';

const maxProducts = 25;

/** The first products: enough to choose from, few enough for a model’s context. */
export async function firstProducts(simplane: Simplane): Promise<{ products: Product[]; hasMore: boolean }> {
  const { data, has_more } = await simplane.products.list({ limit: maxProducts });
  return { products: data, hasMore: has_more };
}

export function describeProduct({ id, name }: Product): string {
  return `${id} (${name})`;
}
