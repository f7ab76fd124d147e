import { useQuery } from '@tanstack/react-query';
import { useClients } from './client.ts';

/** The account's newest endpoints, which are all that most accounts have. */
export function useEndpoints(options: { refetchInterval?: number } = {}) {
  const { api } = useClients();
  return useQuery({
    queryKey: ['webhook_endpoints', 'all'],
    queryFn: async () => (await api.webhookEndpoints.list({ limit: 100 })).data,
    ...options,
  });
}
