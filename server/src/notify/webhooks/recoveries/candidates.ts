import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { subscriptionsOf } from '../../events/subscriptions.ts';
import { endpointIdOf } from '../sql-pieces.ts';
import type { FoundEvent } from './sql.ts';

/**
 * Those of the events that the endpoint would get if it missed them. Uses its current subscriptions, not those at the time of the
 * event, and leaves out events about itself.
 */
export function candidatesOf(
  events: FoundEvent[],
  endpoint: { uuid: string; enabledEventTypes: string[] },
): FoundEvent[] {
  const endpointId = idOfUuid(idPrefixes.webhookEndpoint, endpoint.uuid);
  const subscribes = (type: string) =>
    subscriptionsOf(type).some((subscription) => endpoint.enabledEventTypes.includes(subscription));
  return events.filter((event) => subscribes(event.type) && endpointIdOf(event) !== endpointId);
}
