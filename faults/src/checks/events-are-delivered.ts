import type { Delivery, Event } from '@simplane/contract';
import {
  type EndpointLife,
  endpointLivesOf,
  hookOf,
  subscribes,
  wasCertainlyDue,
} from '../history/endpoint-lives.ts';
import { eventIdOf } from '../history/event-id.ts';
import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/**
 * Every event reaches every endpoint that was enabled and subscribed when it was written, or it can be seen that it did not;
 * and after `recover` nothing is missing.
 */
export function eventsAreDelivered(history: History): Violation[] {
  const arrived = new Set(
    history.receipts
      .filter(({ isAcknowledged }) => isAcknowledged)
      .map(({ hook, body }) => `${hook} ${eventIdOf(body)}`),
  );
  const lives = endpointLivesOf(history);
  return [
    ...deliveriesExist(history, lives),
    ...successesArrived(history, lives, arrived),
    ...recoveriesArrived(history, arrived),
  ];
}

function deliveriesExist(history: History, lives: EndpointLife[]): Violation[] {
  return history.deliveries.flatMap((deliveries, account) => {
    const written = new Map<string, Delivery>();
    for (const delivery of deliveries.filter(({ origin }) => origin === 'event')) {
      written.set(pairOf(delivery.event_id, delivery.webhook_endpoint_id), delivery);
    }
    // What was written when these had been collected has to arrive, which is seen below.
    const isCollected = ({ id }: Event) => (history.committedMs.get(id) ?? 0) < history.deliveriesAsOfMs;
    const events = history.end[account]?.events.filter(isCollected) ?? [];
    return lives
      .filter((life) => life.account === account)
      .flatMap((life) =>
        events
          .filter((event) => wasCertainlyDue(life, event, history.committedMs.get(event.id) ?? 0))
          .flatMap((event) => judge(event, life, written.get(pairOf(event.id, life.id)))),
      );
  });
}

function judge(event: Event, life: EndpointLife, delivery: Delivery | undefined): Violation[] {
  const about = [event.id, life.id];
  if (!delivery) {
    return [
      {
        about,
        what: `${event.type} was written while an endpoint was subscribed, and nothing was queued for it`,
      },
    ];
  }
  if (delivery.status === 'canceled' && life.ended.length === 0) {
    return [
      { about, what: `the delivery of ${event.type} was canceled, and its endpoint was never disabled` },
    ];
  }
  if (delivery.status === 'failed' && delivery.attempts.length === 0) {
    return [{ about, what: `the delivery of ${event.type} failed without an attempt` }];
  }
  return [];
}

function successesArrived({ deliveries }: History, lives: EndpointLife[], arrived: Set<string>): Violation[] {
  const hooks = new Map(lives.map(({ id, hook }) => [id, hook]));
  return deliveries
    .flat()
    .filter(({ status }) => status === 'succeeded')
    .filter((one) => !arrived.has(`${hooks.get(one.webhook_endpoint_id)} ${one.event_id}`))
    .map((one) => ({
      about: [one.id, one.event_id, one.webhook_endpoint_id],
      what: 'a delivery counts as succeeded, and its receiver never acknowledged it',
    }));
}

function recoveriesArrived({ end }: History, arrived: Set<string>): Violation[] {
  return end.flatMap(({ endpoints, events }) =>
    endpoints.flatMap((endpoint) =>
      events
        .filter(({ type }) => subscribes(endpoint.enabled_event_types, type))
        .filter(({ id }) => !arrived.has(`${hookOf(endpoint)} ${id}`))
        .map(({ id, type }) => ({
          about: [id, endpoint.id],
          what: `${type} is missing at an endpoint that subscribes to it, also after recover`,
        })),
    ),
  );
}

function pairOf(eventId: string, endpointId: string): string {
  return `${eventId} ${endpointId}`;
}
