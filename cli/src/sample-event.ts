import { type EventTypeName, type eventDataFields, eventTypeNames, fieldsOfEvent } from '@simplane/contract';

type Field = keyof typeof eventDataFields;

export type EventData = Partial<Record<Field, unknown>>;

/**
 * Data for an event type: the given fields, else `facts` about something that exists, else samples. Usage is
 * computed from the rest, so that the fields agree. Only the given fields for a custom type.
 */
export function sampleDataOf(type: string, facts: EventData = {}, given: object = {}): EventData {
  if (!isEventType(type)) return given;
  const known: EventData = { ...samples, ...facts, ...given };
  const data = { ...known, used_bytes: usedBytes(type, known), ...given };
  return { ...Object.fromEntries(fieldsOfEvent(type).always.map((field) => [field, data[field]])), ...given };
}

function usedBytes(
  type: EventTypeName,
  { data_bytes: limit, threshold_percent: percent }: EventData,
): number {
  if (typeof limit !== 'number') return samples.used_bytes;
  if (type === 'bundle.usage_threshold') return Math.ceil((limit * Number(percent)) / 100);
  return type === 'bundle.depleted' ? limit : Math.floor(limit * 0.4);
}

export function isEventType(type: string): type is EventTypeName {
  return (eventTypeNames as string[]).includes(type);
}

const nowSeconds = Math.floor(Date.now() / 1000);
const inAMonthSeconds = nowSeconds + 30 * 86_400;
const anHourAgoSeconds = nowSeconds - 3_600;

// Checked as a full record, so a new field in the contract does not compile without a sample.
const samples = {
  iccid: '8999901000000000018',
  execution_id: 'exec_01ks6x3h4rf9n8c2b7d5e0qzjm',
  product_id: 'prod_europe_5gb_30d',
  bundle_id: 'bdl_01ks6x3h4rf9n8c2b7d5e0qzjn',
  webhook_endpoint_id: 'we_01ks6x3h4rf9n8c2b7d5e0qzjp',
  error: { code: 'declined', message: 'The network declined the order. Order another product.' },
  country: 'IT',
  previous_country: 'FR',
  expires_at: inAMonthSeconds,
  threshold_percent: 80,
  used_bytes: 4_000_000_000,
  data_bytes: 5_000_000_000,
  url: 'https://example.com/webhooks',
  disabled_reason: '20 attempts failed in a row since yesterday; the last answer was 500.',
  failing_since: anHourAgoSeconds,
  failure_count: 3,
  last_error: 'connection refused',
} satisfies Record<Field, unknown>;
