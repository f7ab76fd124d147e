import { eventTypeNames, eventTypes } from '@simplane/contract';

export async function listEventTypes() {
  return {
    object: 'list' as const,
    data: eventTypeNames.map((type) => ({
      type,
      object: 'event_type' as const,
      description: eventTypes[type].description,
      data: [...eventTypes[type].data],
    })),
    has_more: false,
  };
}
