import type { WebhookEndpoint } from '@simplane/sdk';
import { useClients } from './client.ts';
import { type Reading, useReading } from './parts/reading.tsx';
import { pollMs } from './queries.ts';

/** The account's newest endpoints, which are all that most accounts have. */
export function useEndpoints(): Reading<WebhookEndpoint[]> {
  const { api } = useClients();
  return useReading({
    queryKey: ['webhook_endpoints', 'all'],
    queryFn: async () => (await api.webhookEndpoints.list({ limit: 100 })).data,
    pollMs,
  });
}
