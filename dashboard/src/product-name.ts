import { useQuery } from '@tanstack/react-query';
import { useClients } from './client.ts';

/** Names of products by their ids: empty until they are known, and the id of a product that is not listed. */
export function useProductName(): (id: string) => string {
  const { api } = useClients();
  const { data, isPending } = useQuery({
    queryKey: ['products', 'names'],
    queryFn: async () => {
      const { data } = await api.products.list({ limit: 100 });
      return new Map(data.map(({ id, name }) => [id, name]));
    },
    staleTime: 300_000,
  });
  return (id) => (isPending ? '' : (data?.get(id) ?? id));
}
