import { useQuery } from '@tanstack/react-query';
import { useClients } from './client.ts';

/** Names of products by their ids. A product that is not listed is called by its id. */
export function useProductName(): (id: string) => string {
  const { api } = useClients();
  const { data } = useQuery({
    queryKey: ['products', 'names'],
    queryFn: async () => {
      const { data } = await api.products.list({ limit: 100 });
      return new Map(data.map(({ id, name }) => [id, name]));
    },
    staleTime: 300_000,
  });
  return (id) => data?.get(id) ?? id;
}
