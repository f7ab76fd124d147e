import type { Product, Simplane } from '@simplane/sdk';

const shownAtMost = 25;

/** The head of the catalog: enough to choose from, small enough for a model’s context. */
export async function firstProducts(simplane: Simplane): Promise<{ products: Product[]; hasMore: boolean }> {
  const { data, has_more } = await simplane.products.list({ limit: shownAtMost });
  return { products: data, hasMore: has_more };
}

export function describeProduct({ id, name }: Product): string {
  return `${id} (${name})`;
}
