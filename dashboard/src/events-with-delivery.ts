import type { Page, Simplane, WebhookEvent } from '@simplane/sdk';

type Query = NonNullable<Parameters<Simplane['events']['list']>[0]>;

/** `done`: every endpoint that was subscribed has it. */
export type EventRow = WebhookEvent & { delivery: 'undelivered' | 'pending' | 'done' };

const open = ['undelivered', 'pending'] as const;

/** A page of events with how their deliveries stand: an event is the same bytes everywhere, so the API lists those apart. */
export async function listWithDelivery(api: Simplane, query: Query): Promise<Page<EventRow>> {
  const page = await api.events.list(query);
  const [newest, oldest] = [page.data[0], page.data.at(-1)];
  if (!newest || !oldest) return { ...page, data: [] };
  const span = { ...query, 'created[gte]': oldest.created, 'created[lte]': newest.created };
  const { starting_after: _, 'created[lt]': __, ...shown } = span;
  const lists = await Promise.all(
    open.map(async (delivery) => {
      const isAll = query.delivery === delivery;
      const found = isAll ? page : await api.events.list({ ...shown, limit: 100, delivery });
      return new Set(found.data.map(({ id }) => id));
    }),
  );
  const deliveryOf = (id: string) => open.find((_, index) => lists[index]?.has(id)) ?? 'done';
  return { ...page, data: page.data.map((event) => ({ ...event, delivery: deliveryOf(event.id) })) };
}
