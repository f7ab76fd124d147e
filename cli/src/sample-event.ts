import {
  type EventTypeName,
  type eventDataFields,
  eventTypeNames,
  exampleEvent,
  fieldsOfEvent,
} from '@simplane/contract';

type Field = keyof typeof eventDataFields;

export type EventData = Partial<Record<Field, unknown>>;

/**
 * Data for an event type: the given fields, else `facts` about something that exists, else samples. Usage is
 * computed from the rest, so that the fields agree. Only the given fields for a custom type.
 */
export function sampleDataOf(type: string, facts: EventData = {}, given: object = {}): EventData {
  if (!isEventType(type)) return given;
  const known: EventData = { ...samplesOf(type), ...facts, ...given };
  const data = { ...known, used_bytes: usedBytes(type, known), ...given };
  return { ...Object.fromEntries(fieldsOfEvent(type).always.map((field) => [field, data[field]])), ...given };
}

function usedBytes(
  type: EventTypeName,
  { data_bytes: limit, threshold_percent: percent, used_bytes: sample }: EventData,
): unknown {
  if (typeof limit !== 'number') return sample;
  if (type === 'bundle.usage_threshold') return Math.ceil((limit * Number(percent)) / 100);
  return type === 'bundle.depleted' ? limit : Math.floor(limit * 0.4);
}

export function isEventType(type: string): type is EventTypeName {
  return (eventTypeNames as string[]).includes(type);
}

/** The contract's example, with times around now. */
function samplesOf(type: EventTypeName): EventData {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const times = { expires_at: nowSeconds + 30 * 86_400, failing_since: nowSeconds - 3_600 };
  return { ...exampleEvent(type).data, ...times };
}
