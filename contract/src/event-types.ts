import { Type } from 'typebox';
import { nullableInteger, nullableString } from './schema.ts';

/** Every field that an event's `data` can contain. */
export const eventDataFields = {
  iccid: Type.String(),
  execution_id: Type.String(),
  product_id: Type.String(),
  bundle_id: Type.String(),
  webhook_endpoint_id: Type.String(),
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    upstream: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'The network’s own codes.' }),
    ),
  }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2 code.' }),
  previous_country: Type.String({ description: 'ISO 3166-1 alpha-2 code.' }),
  expires_at: Type.Integer({ description: 'Unix time in seconds.' }),
  threshold_percent: Type.Integer(),
  used_bytes: Type.Integer(),
  data_bytes: nullableInteger({ description: 'Null when unlimited.' }),
  url: Type.String(),
  disabled_reason: Type.String(),
  failing_since: Type.Integer({ description: 'Unix time in seconds.' }),
  failure_count: Type.Integer(),
  last_error: nullableString({ description: 'Why the last attempt failed.' }),
} as const;

type Field = keyof typeof eventDataFields;

/** `data` lists the fields that are always present, `optional` those that may be absent. */
type EventType = { description: string; data: readonly Field[]; optional?: readonly Field[] };

/** Every event type and its `data` fields. Payloads are minimal: receivers fetch the current state from the API. */
export const eventTypes = {
  'esim.provisioned': {
    description: 'The eSIM is ready to install.',
    data: ['iccid', 'execution_id', 'product_id'],
  },
  'esim.provisioning_failed': {
    description: 'The order failed permanently; the execution says why.',
    data: ['execution_id', 'product_id', 'error'],
    optional: ['iccid'],
  },
  'esim.activated': {
    description: 'The eSIM attached to a network for the first time.',
    data: ['iccid', 'product_id'],
  },
  'esim.suspended': { description: 'The eSIM was suspended.', data: ['iccid', 'execution_id', 'product_id'] },
  'esim.resumed': { description: 'The eSIM was resumed.', data: ['iccid', 'execution_id', 'product_id'] },
  'esim.terminated': {
    description: 'The eSIM was terminated.',
    data: ['iccid', 'execution_id', 'product_id'],
  },
  'esim.downloaded': { description: 'A device downloaded the profile.', data: ['iccid', 'product_id'] },
  'esim.installed': { description: 'A device installed the profile.', data: ['iccid', 'product_id'] },
  'esim.enabled': { description: 'A device enabled the profile.', data: ['iccid', 'product_id'] },
  'esim.disabled': { description: 'A device disabled the profile.', data: ['iccid', 'product_id'] },
  'esim.deleted': { description: 'A device deleted the profile.', data: ['iccid', 'product_id'] },
  'esim.download_failed': {
    description:
      'A device could not download the profile. `error` says why, in words and in the network’s codes.',
    data: ['iccid', 'product_id', 'error'],
  },
  'esim.install_failed': {
    description:
      'A device downloaded the profile but could not install it. `error` says why, in words and in the network’s codes.',
    data: ['iccid', 'product_id', 'error'],
  },
  'esim.country_changed': {
    description: 'The eSIM attached in a different country than before.',
    data: ['iccid', 'product_id', 'country', 'previous_country'],
  },
  'bundle.activated': {
    description: 'A bundle became active. `execution_id` is present if an order activated it.',
    data: ['iccid', 'bundle_id', 'product_id', 'expires_at'],
    optional: ['execution_id'],
  },
  'bundle.usage_threshold': {
    description:
      'A bundle’s usage reached a threshold. Sent once per bundle and threshold, in ascending order.',
    data: ['iccid', 'bundle_id', 'product_id', 'threshold_percent', 'used_bytes', 'data_bytes'],
  },
  'bundle.depleted': {
    description: 'A bundle’s data is used up.',
    data: ['iccid', 'bundle_id', 'product_id', 'used_bytes', 'data_bytes'],
  },
  'bundle.expired': {
    description: 'A bundle expired.',
    data: ['iccid', 'bundle_id', 'product_id', 'used_bytes', 'data_bytes'],
  },
  'webhook_endpoint.failing': {
    description: 'An endpoint keeps failing and may be disabled. Sent to the account’s other endpoints.',
    data: ['webhook_endpoint_id', 'url', 'failing_since', 'failure_count', 'last_error'],
  },
  'webhook_endpoint.recovered': {
    description:
      'A delivery succeeded at an endpoint that was failing or disabled. Sent to the account’s other endpoints.',
    data: ['webhook_endpoint_id', 'url'],
  },
  'webhook_endpoint.disabled': {
    description: 'An endpoint was disabled because it kept failing. Sent to the account’s other endpoints.',
    data: ['webhook_endpoint_id', 'url', 'disabled_reason'],
  },
  'bundle.canceled': {
    description: 'A bundle was canceled because its eSIM was terminated.',
    data: ['iccid', 'bundle_id', 'product_id', 'execution_id'],
  },
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventTypeName[];

export function fieldsOfEvent(type: EventTypeName): {
  always: readonly Field[];
  sometimes: readonly Field[];
} {
  const { data, optional = [] }: EventType = eventTypes[type];
  return { always: data, sometimes: optional };
}

/** Pattern of event type names, including made-up ones for test events. */
export const eventTypePattern = '^[a-z0-9_]+(\\.[a-z0-9_]+)*$';
