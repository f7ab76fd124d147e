import { type EventTypeName, encodeId, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import { subscriptionsOf } from './subscriptions.ts';

/** An event to be written. Its body is final: the API shows and the deliveries send exactly these bytes. */
export type NewEvent = {
  accountUuid: string;
  uuid: string;
  type: string;
  createdAt: Date;
  body: string;
  /** The subscriptions it satisfies, separated by spaces. */
  subscriptions: string;
};

type Deps = { newUuid: NewUuid };
type EventInput<Type> = {
  accountUuid: string;
  type: Type;
  data: Record<string, unknown>;
  /** Of the order that made what the event is about. */
  reference?: string | null;
};

export function newEvent(deps: Deps, event: EventInput<EventTypeName>): NewEvent {
  return composeEvent(deps, event);
}

/** For events of any type: the sandbox's test events may have types outside the contract. */
export function composeEvent({ newUuid }: Deps, event: EventInput<string>): NewEvent {
  const { accountUuid, type, reference = null } = event;
  const data = reference === null ? event.data : { ...event.data, reference };
  const uuid = newUuid();
  const id = encodeId(idPrefixes.event, uuid);
  // Taken from the id, so that a range of times is a range of ids.
  const createdAt = new Date(uuid.readUIntBE(0, 6));
  const body = JSON.stringify({ id, type, object: 'event', created: unixSeconds(createdAt), data });
  return {
    accountUuid,
    uuid: uuidText(uuid),
    type,
    createdAt,
    body,
    subscriptions: subscriptionsOf(type).join(' '),
  };
}
