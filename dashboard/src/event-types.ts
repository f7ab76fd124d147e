import type { EventType } from '@simplane/sdk';
import { useClients } from './client.ts';
import { type Reading, useReading } from './parts/reading.tsx';

/** The catalogue of event types. It changes with a release. */
export function useEventTypes(): Reading<EventType[]> {
  const { api } = useClients();
  return useReading({
    queryKey: ['event_types'],
    queryFn: async () => (await api.events.listTypes({ limit: 100 })).data,
    staleMs: 3_600_000,
  });
}

export function familyOf(type: string): string {
  return `${type.split('.', 1)[0]}.*`;
}
