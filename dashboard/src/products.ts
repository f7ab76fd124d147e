import type { Product } from '@simplane/sdk';
import { useClients } from './client.ts';
import { isLoading, peek, type Reading, useReading } from './parts/reading.tsx';

/** The products that can be ordered. They hardly change. */
export function useProducts(): Reading<Product[]> {
  const { api } = useClients();
  return useReading({
    queryKey: ['products', 'all'],
    queryFn: async () => (await api.products.list({ limit: 100 })).data,
    staleMs: 300_000,
  });
}

/** Names of products by their ids: empty until they are known, and the id of a product that is not listed. */
export function useProductName(): (id: string) => string {
  const reading = useProducts();
  const products = peek(reading);
  return (id) => (isLoading(reading) ? '' : (products?.find((product) => product.id === id)?.name ?? id));
}
