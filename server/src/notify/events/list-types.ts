import {
  type EventTypeName,
  eventTypeNames,
  eventTypes,
  fieldsOfEvent,
  type InputFor,
} from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { readPage } from '../../platform/lists/read-page.ts';

/** Every event type, in the order of the contract. */
export function listEventTypes(ctx: Context, { query }: InputFor<'listEventTypes'>) {
  return readPage(query, {
    scope: { list: 'event_types', accountId: ctx.account.id, filters: {} },
    read: async (after, count) => {
      const start = after === null ? 0 : eventTypeNames.indexOf(after as EventTypeName) + 1;
      return eventTypeNames.slice(start, start + count);
    },
    positionOf: (type) => type,
    positionPattern: /^[a-z_.]+$/,
    present: (type) => ({
      type,
      object: 'event_type' as const,
      description: eventTypes[type].description,
      data: [...fieldsOfEvent(type).always, ...fieldsOfEvent(type).sometimes],
    }),
  });
}
