import type { Delivery, Event } from '@simplane/contract';
import {
  type EndpointTimeline,
  endpointTimelinesOf,
  hookOf,
  isAbout,
  subscribes,
  wasCertainlyDue,
} from '../history/endpoint-timelines.ts';
import { eventIdOf } from '../history/event-id.ts';
import type { History } from '../history/history.ts';
import { writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/**
 * Every event reaches every endpoint that was enabled and subscribed when it was stored, or its delivery is `failed` or
 * `canceled`. After `recover` nothing is missing.
 */
export function eventsAreDelivered(history: History): Violation[] {
  const arrived = new Set(
    history.receipts
      .filter(({ isAcknowledged }) => isAcknowledged)
      .map(({ hook, body }) => `${hook} ${eventIdOf(body)}`),
  );
  const timelines = endpointTimelinesOf(history);
  return [
    ...deliveriesExist(history, timelines),
    ...successesArrived(history, timelines, arrived),
    ...recoveriesArrived(history, arrived),
  ];
}

function deliveriesExist(history: History, timelines: EndpointTimeline[]): Violation[] {
  const skipped = skippedDeliveries(history);
  return history.deliveries.flatMap((deliveries, account) => {
    const stored = new Map<string, Delivery>();
    for (const delivery of deliveries.filter(({ origin }) => origin === 'event')) {
      stored.set(pairOf(delivery.event_id, delivery.webhook_endpoint_id), delivery);
    }
    // Events stored after the deliveries were collected are checked by their receipts, below.
    const isCollected = ({ id }: Event) => (history.committedMs.get(id) ?? 0) < history.deliveriesAsOfMs;
    const events = history.end[account]?.events.filter(isCollected) ?? [];
    return timelines
      .filter((timeline) => timeline.account === account)
      .flatMap((timeline) =>
        events
          .filter((event) => wasCertainlyDue(timeline, event, history.committedMs.get(event.id) ?? 0))
          .map((event) => ({ event, delivery: stored.get(pairOf(event.id, timeline.id)) }))
          .filter(({ delivery }) => !skipped.has(delivery?.id ?? ''))
          .flatMap(({ event, delivery }) => checkDelivery(event, timeline, delivery)),
      );
  });
}

/** Deliveries that their owner skipped, or tried to. */
function skippedDeliveries(history: History): Set<string> {
  return new Set(
    writesOf(history).flatMap(({ path }) => /^\/v1\/deliveries\/(dlv_\w+)\/skip$/.exec(path)?.[1] ?? []),
  );
}

function checkDelivery(event: Event, timeline: EndpointTimeline, delivery?: Delivery): Violation[] {
  const about = [event.id, timeline.id];
  if (!delivery) {
    return [
      { about, what: `${event.type} was stored, but no delivery was queued for a subscribed endpoint` },
    ];
  }
  if (delivery.status === 'canceled' && timeline.disabled.length === 0) {
    return [
      { about, what: `the delivery of ${event.type} was canceled, but its endpoint was never disabled` },
    ];
  }
  if (delivery.status === 'failed' && delivery.attempts.length === 0) {
    return [{ about, what: `the delivery of ${event.type} failed without an attempt` }];
  }
  return [];
}

function successesArrived(
  { deliveries }: History,
  timelines: EndpointTimeline[],
  arrived: Set<string>,
): Violation[] {
  const hooks = new Map(timelines.map(({ id, hook }) => [id, hook]));
  return deliveries
    .flat()
    .filter(({ status }) => status === 'succeeded')
    .filter((one) => !arrived.has(`${hooks.get(one.webhook_endpoint_id)} ${one.event_id}`))
    .map((one) => ({
      about: [one.id, one.event_id, one.webhook_endpoint_id],
      what: 'a delivery succeeded, but its receiver never acknowledged it',
    }));
}

function recoveriesArrived({ end }: History, arrived: Set<string>): Violation[] {
  return end.flatMap(({ endpoints, events }) =>
    endpoints.flatMap((endpoint) =>
      events
        .filter(
          (event) => subscribes(endpoint.enabled_event_types, event.type) && !isAbout(event, endpoint.id),
        )
        .filter(({ id }) => !arrived.has(`${hookOf(endpoint)} ${id}`))
        .map(({ id, type }) => ({
          about: [id, endpoint.id],
          what: `${type} is missing at a subscribed endpoint even after recover`,
        })),
    ),
  );
}

function pairOf(eventId: string, endpointId: string): string {
  return `${eventId} ${endpointId}`;
}
