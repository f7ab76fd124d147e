import { useQuery } from '@tanstack/react-query';
import { useClients } from './client.ts';

/** The products that can be ordered. */
export function useProducts(options: { enabled?: boolean; staleTime?: number } = {}) {
  const { api } = useClients();
  return useQuery({
    queryKey: ['products'],
    queryFn: async () => (await api.products.list({ limit: 100 })).data,
    ...options,
  });
}

/** Names of products by their ids: empty until they are known, and the id of a product that is not listed. */
export function useProductName(): (id: string) => string {
  const { data, isPending } = useProducts({ staleTime: 300_000 });
  return (id) => (isPending ? '' : (data?.find((product) => product.id === id)?.name ?? id));
}
