import { mayBeErased } from '../history/erased.ts';
import { eventIdOf } from '../history/event-id.ts';
import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** Every delivery has the event as the log shows it, byte for byte. */
export function logMatchesDeliveries({ sent, receipts, end }: History): Violation[] {
  const logged = new Map(
    end.flatMap(({ events }) => events).map((event) => [event.id, JSON.stringify(event)]),
  );
  const isErased = mayBeErased({ sent });
  return receipts.flatMap(({ body, hook, headers }) => {
    const id = eventIdOf(body);
    const about = [id || hook, hook];
    if (!logged.has(id)) return [{ about, what: 'an event was delivered that is not in the log' }];
    if (headers['webhook-id'] !== id)
      return [{ about, what: 'the webhook-id header names a different event than the body' }];
    return logged.get(id) === body || isErased(body)
      ? []
      : [{ about, what: 'an event was delivered with different bytes than the log has' }];
  });
}
