import { Type } from 'typebox';
import { nullableInteger } from './schema.ts';

/** Every field that the data of an event may carry. */
export const eventDataFields = {
  iccid: Type.String(),
  execution_id: Type.String(),
  product_id: Type.String(),
  bundle_id: Type.String(),
  webhook_endpoint_id: Type.String(),
  error: Type.Object({ code: Type.String(), message: Type.String() }),
  country: Type.String({ description: 'ISO 3166-1 alpha-2.' }),
  previous_country: Type.String({ description: 'ISO 3166-1 alpha-2.' }),
  expires_at: Type.Integer({ description: 'Unix time in seconds.' }),
  threshold_percent: Type.Integer(),
  used_bytes: Type.Integer(),
  data_bytes: nullableInteger({ description: 'Null when it is unlimited.' }),
  url: Type.String(),
  disabled_reason: Type.String(),
} as const;

type Field = keyof typeof eventDataFields;

/** `data` is always there, `optional` where it applies. */
type EventType = { description: string; data: readonly Field[]; optional?: readonly Field[] };

/** Every event there is, and what its `data` carries. The payload is minimal: current state is fetched from the API. */
export const eventTypes = {
  'esim.provisioned': {
    description: 'The eSIM is ready to install.',
    data: ['iccid', 'execution_id', 'product_id'],
  },
  'esim.provisioning_failed': {
    description: 'The order failed for good; the execution says why.',
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
  'esim.country_changed': {
    description: 'The eSIM attached in another country than before.',
    data: ['iccid', 'product_id', 'country', 'previous_country'],
  },
  'bundle.activated': {
    description: 'A bundle began to count; `execution_id` when an order made it begin.',
    data: ['iccid', 'bundle_id', 'product_id', 'expires_at'],
    optional: ['execution_id'],
  },
  'bundle.usage_threshold': {
    description: 'A bundle’s usage reached a percentage; once per bundle and level, ascending.',
    data: ['iccid', 'bundle_id', 'product_id', 'threshold_percent', 'used_bytes', 'data_bytes'],
  },
  'bundle.depleted': {
    description: 'A bundle’s data is used up.',
    data: ['iccid', 'bundle_id', 'product_id', 'used_bytes', 'data_bytes'],
  },
  'bundle.expired': {
    description: 'A bundle’s time is over.',
    data: ['iccid', 'bundle_id', 'product_id', 'used_bytes', 'data_bytes'],
  },
  'webhook_endpoint.disabled': {
    description: 'An endpoint kept failing and was disabled; sent to the account’s other endpoints.',
    data: ['webhook_endpoint_id', 'url', 'disabled_reason'],
  },
  'bundle.canceled': {
    description: 'A bundle was canceled with its eSIM.',
    data: ['iccid', 'bundle_id', 'product_id', 'execution_id'],
  },
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventTypeName[];

/** The fields that the data of this type may carry. */
export function fieldsOfEvent(type: EventTypeName): {
  always: readonly Field[];
  sometimes: readonly Field[];
} {
  const { data, optional = [] }: EventType = eventTypes[type];
  return { always: data, sometimes: optional };
}

/** What the name of an event may look like, in the sandbox also of one that does not exist. */
export const eventTypePattern = '^[a-z0-9_]+(\\.[a-z0-9_]+)*$';
