import { type EventTypeName, type eventDataFields, eventTypeNames, fieldsOfEvent } from '@simplane/contract';

type Field = keyof typeof eventDataFields;

/** Sample data for a built-in event type; empty for a custom type. */
export function sampleDataOf(type: string): Record<string, unknown> {
  if (!isEventType(type)) return {};
  return Object.fromEntries(fieldsOfEvent(type).always.map((field) => [field, samples[field]]));
}

export function isEventType(type: string): type is EventTypeName {
  return (eventTypeNames as string[]).includes(type);
}

const nowSeconds = Math.floor(Date.now() / 1000);
const inAMonthSeconds = nowSeconds + 30 * 86_400;
const anHourAgoSeconds = nowSeconds - 3_600;

// Typed as a full record, so a new field in the contract does not compile without a sample.
const samples: Record<Field, unknown> = {
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
};
