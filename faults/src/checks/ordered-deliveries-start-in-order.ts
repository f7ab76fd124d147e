import { type EndpointTimeline, endpointTimelinesOf } from '../history/endpoint-timelines.ts';
import { eventIdOf } from '../history/event-id.ts';
import type { EndedDelivery, History } from '../history/history.ts';
import { writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

/** A delivery to an ordered endpoint, of an event with an ICCID. */
type Ordered = EndedDelivery & {
  iccid: string;
  position: number;
  /** When the receiver first got the event from this delivery; null if it never did. */
  startedMs: number | null;
};

/**
 * On an endpoint with `ordering: "esim"`, an event of an eSIM arrives only after the deliveries of all earlier events of this eSIM have
 * ended, in the order of the feed. Explicit retries and replays are not ordered: they wait for nothing, and nothing waits for them.
 */
export function orderedDeliveriesStartInOrder(history: History): Violation[] {
  const ordered = new Map(
    endpointTimelinesOf(history)
      .filter(({ isOrdered }) => isOrdered)
      .map((timeline) => [timeline.id, timeline]),
  );
  const { replayed, retried } = explicitlySent(history);
  return [...bySequence(history, ordered).values()].flatMap((deliveries) => {
    const inOrder = deliveries.filter((one) => !retried.has(`${one.endpointId} ${one.eventId}`));
    return inOrder
      .filter(({ eventId }) => !replayed.has(eventId))
      .flatMap((later) => openBefore(inOrder, later).map((earlier) => overtaken(earlier, later)));
  });
}

/** The deliveries that must start one after the other: those of one eSIM to one endpoint. */
function bySequence(history: History, ordered: Map<string, EndpointTimeline>): Map<string, Ordered[]> {
  const events = eventsOf(history);
  const receipts = receiptsOf(history);
  const found = new Map<string, Ordered[]>();
  for (const delivery of history.endedDeliveries) {
    const timeline = ordered.get(delivery.endpointId);
    const event = events.get(delivery.eventId);
    if (!timeline || !event) continue;
    const arrivals = receipts.get(`${timeline.hook} ${delivery.eventId}`) ?? [];
    const startedMs = arrivals.find((atMs) => atMs >= delivery.createdMs) ?? null;
    const name = `${timeline.id} ${event.iccid}`;
    const before = found.get(name) ?? [];
    // What arrives after a recovery has queued the event again may be the recovery's.
    const canceled = before.find((one) => one.eventId === delivery.eventId && one.startedMs === startedMs);
    if (canceled) canceled.startedMs = null;
    found.set(name, [...before, { ...delivery, ...event, startedMs }]);
  }
  return found;
}

function openBefore(deliveries: Ordered[], { position, startedMs, createdMs }: Ordered): Ordered[] {
  if (startedMs === null) return [];
  return deliveries.filter(
    (one) =>
      one.position < position &&
      startedMs < one.endedMs &&
      // What a recovery queues may find newer events already on their way.
      (one.origin === 'event' || one.createdMs < createdMs),
  );
}

function overtaken(earlier: Ordered, later: Ordered): Violation {
  const aheadMs = earlier.endedMs - (later.startedMs ?? 0);
  return {
    about: [later.eventId, earlier.eventId, later.endpointId],
    what: `an event of ${later.iccid} arrived ${aheadMs} ms before the ${earlier.origin} delivery of an earlier one ended`,
  };
}

/** The position in the feed and the ICCID of each event that has one. */
function eventsOf({ end, feedReaders }: History): Map<string, { iccid: string; position: number }> {
  const iccids = new Map(
    end.flatMap(({ events }) => events.map(({ id, data }) => [id, data['iccid']] as const)),
  );
  const found = new Map<string, { iccid: string; position: number }>();
  for (const { seen } of feedReaders.filter(({ kind }) => kind === 'late')) {
    for (const [position, { id }] of seen.entries()) {
      const iccid = iccids.get(id);
      if (typeof iccid === 'string') found.set(id, { iccid, position });
    }
  }
  return found;
}

function receiptsOf({ receipts }: History): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { hook, body, atMs } of receipts) {
    const name = `${hook} ${eventIdOf(body)}`;
    found.set(name, [...(found.get(name) ?? []), atMs]);
  }
  return found;
}

/** What customers sent again: events to all endpoints, and events to one. Their arrivals may be those of the repetition. */
function explicitlySent(history: History): { replayed: Set<string>; retried: Set<string> } {
  const known = new Map(history.deliveries.flat().map((delivery) => [delivery.id, delivery]));
  const paths = writesOf(history).map(({ path }) => path);
  return {
    replayed: new Set(paths.flatMap((path) => /^\/v1\/events\/(evt_\w+)\/replay$/.exec(path)?.[1] ?? [])),
    retried: new Set(
      paths.flatMap((path) => {
        const [, id = ''] = /^\/v1\/deliveries\/(dlv_\w+)\/retry$/.exec(path) ?? [];
        const delivery = known.get(id);
        return delivery ? `${delivery.webhook_endpoint_id} ${delivery.event_id}` : [];
      }),
    ),
  };
}
