import {
  exampleBytes,
  exampleIccid,
  exampleId,
  exampleProductId,
  exampleProfileError,
  exampleTime,
  exampleUrl,
} from './example-values.ts';
import { idPrefixes } from './ids.ts';
import { nullableInteger, nullableString } from './schema.ts';
import { Type } from './type.ts';

/** Every field that an event's `data` can contain. Each has a description and an example. */
export const eventDataFields = {
  iccid: Type.String({ description: 'ICCID of the eSIM.', examples: [exampleIccid] }),
  execution_id: Type.String({
    description: 'Id of the execution that caused it.',
    examples: [exampleId(idPrefixes.execution)],
  }),
  execution_type: Type.String({
    description: 'What was requested: the `type` of the execution.',
    examples: ['bundle.add'],
  }),
  product_id: Type.String({ description: 'Id of the product.', examples: [exampleProductId] }),
  bundle_id: Type.String({ description: 'Id of the bundle.', examples: [exampleId(idPrefixes.bundle)] }),
  reference: Type.String({
    description: 'Your own name for the order of the eSIM or bundle, if you gave one.',
    examples: ['TRV-1007'],
  }),
  batch_id: Type.String({
    description: 'Id of the batch.',
    examples: [exampleId(idPrefixes.batch)],
  }),
  total: Type.Integer({ description: 'Number of orders.', examples: [500] }),
  succeeded: Type.Integer({ description: 'Orders that succeeded.', examples: [498] }),
  failed: Type.Integer({ description: 'Orders that failed or were canceled.', examples: [2] }),
  canceled: Type.Integer({ description: 'How many of the failed ones were canceled.', examples: [0] }),
  webhook_endpoint_id: Type.String({
    description: 'Id of the webhook endpoint.',
    examples: [exampleId(idPrefixes.webhookEndpoint)],
  }),
  error: Type.Object(
    {
      code: Type.String(),
      message: Type.String(),
      upstream: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'The network’s own codes.' }),
      ),
    },
    {
      description: 'What failed, and why.',
      examples: [{ code: 'declined', message: 'The network declined the order.' }],
    },
  ),
  country: Type.String({ description: 'ISO 3166-1 alpha-2 code.', examples: ['FR'] }),
  previous_country: Type.String({ description: 'ISO 3166-1 alpha-2 code.', examples: ['DE'] }),
  expires_at: Type.Integer({
    description: 'Unix time in seconds.',
    examples: [exampleTime + 30 * 86_400],
  }),
  threshold_percent: Type.Integer({ description: 'Percentage that the usage reached.', examples: [80] }),
  used_bytes: Type.Integer({ description: 'Bytes used.', examples: [exampleBytes.used] }),
  data_bytes: nullableInteger({
    description: 'Data allowance in bytes; null means unlimited.',
    examples: [exampleBytes.data],
  }),
  uncovered_bytes: Type.Integer({
    description: 'Bytes that the eSIM has used without a bundle, in all countries.',
    examples: [1_048_576],
  }),
  state: Type.String({
    description: 'What the network should let the eSIM do: `full`, `throttled` or `barred`.',
    examples: ['throttled'],
  }),
  reason: nullableString({ description: 'Why it is not `full`; else null.', examples: ['depleted'] }),
  kbps: nullableInteger({
    description: 'Speed limit in kbit/s if it is `throttled`; else null.',
    examples: [128],
  }),
  version: Type.Integer({
    description: 'Version of the state; `service.version` of the eSIM.',
    examples: [3],
  }),
  install_link_id: Type.String({
    description: 'Id of the install link.',
    examples: [exampleId(idPrefixes.installLink)],
  }),
  url: Type.String({ description: 'URL of the endpoint.', examples: [exampleUrl] }),
  disabled_reason: Type.String({
    description: 'What happened, and what to fix.',
    examples: [
      'All 20 attempts since 2026-11-01T08:00:00Z failed, the last with status 500. Fix the receiver, enable the endpoint, then recover the missed events.',
    ],
  }),
  failing_since: Type.Integer({ description: 'Unix time in seconds.', examples: [exampleTime] }),
  failure_count: Type.Integer({ description: 'Failed attempts in a row.', examples: [3] }),
  last_error: nullableString({
    description: 'Why the last attempt failed.',
    examples: ['connection refused'],
  }),
} as const;

type Field = keyof typeof eventDataFields;

/**
 * `data` lists the fields that are always present, `optional` those that may be absent. The example payload has the
 * fields' examples; `example` replaces some of them.
 */
type EventType = {
  description: string;
  data: readonly Field[];
  optional?: readonly Field[];
  example?: { readonly [field in Field]?: unknown };
};

/** Every event type and its `data` fields. Payloads are minimal: receivers fetch the current state from the API. */
export const eventTypes = {
  'esim.provisioned': {
    description: 'The eSIM is ready to install.',
    data: ['iccid', 'execution_id', 'product_id'],
    optional: ['batch_id'],
  },
  'esim.provisioning_failed': {
    description: 'The order failed permanently; the execution says why.',
    data: ['execution_id', 'product_id', 'error'],
    optional: ['iccid', 'batch_id'],
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
  'esim.erased': {
    description:
      'The personal data of the eSIM was erased, also in its earlier events. Erase what you have of it too.',
    data: ['iccid'],
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
    example: { error: exampleProfileError },
  },
  'esim.install_failed': {
    description:
      'A device downloaded the profile but could not install it. `error` says why, in words and in the network’s codes.',
    data: ['iccid', 'product_id', 'error'],
    example: { error: exampleProfileError },
  },
  'esim.country_changed': {
    description: 'The eSIM attached in a different country than before.',
    data: ['iccid', 'product_id', 'country', 'previous_country'],
  },
  'esim.usage_not_covered': {
    description:
      'The eSIM used data that no bundle covers. Sent once per country and day (UTC); `country` is absent if the network reported none.',
    data: ['iccid', 'product_id', 'uncovered_bytes'],
    optional: ['country'],
  },
  'esim.service_changed': {
    description:
      'The eSIM may use more or less than before, or for another reason: `state`, `reason` or `kbps` of its `service` changed. The operator’s core may not have it yet: `applied_version` of the eSIM says so.',
    data: ['iccid', 'product_id', 'state', 'reason', 'kbps', 'version'],
  },
  'install_link.opened': {
    description:
      'Someone opened an install link for the first time. Sent once per link; previews by chat and mail programs do not count.',
    data: ['iccid', 'product_id', 'install_link_id'],
  },
  'bundle.added': {
    description:
      'A top-up succeeded: its bundle was added to the eSIM. The first bundle of an eSIM comes with `esim.provisioned`.',
    data: ['iccid', 'bundle_id', 'product_id', 'execution_id'],
  },
  'bundle.activated': {
    description:
      'A bundle became active, for the first time or because a correction of its usage ended its depletion. `execution_id` is present if an order activated it.',
    data: ['iccid', 'bundle_id', 'product_id', 'expires_at'],
    optional: ['execution_id'],
  },
  'bundle.usage_threshold': {
    description:
      'A bundle’s usage reached a threshold. Sent once per bundle and threshold, in ascending order; a correction of usage neither takes it back nor repeats it.',
    data: ['iccid', 'bundle_id', 'product_id', 'threshold_percent', 'used_bytes', 'data_bytes'],
  },
  'bundle.depleted': {
    description: 'A bundle’s data is used up.',
    data: ['iccid', 'bundle_id', 'product_id', 'used_bytes', 'data_bytes'],
    example: { used_bytes: exampleBytes.data },
  },
  'bundle.expired': {
    description: 'A bundle expired.',
    data: ['iccid', 'bundle_id', 'product_id', 'used_bytes', 'data_bytes'],
  },
  'batch.finished': {
    description: 'The last open order of a batch has ended. Sent once per batch.',
    data: ['batch_id', 'total', 'succeeded', 'failed', 'canceled'],
  },
  'execution.failed': {
    description:
      'A suspension, resumption, termination or top-up failed permanently, or was canceled. An order of an eSIM has `esim.provisioning_failed` instead.',
    data: ['iccid', 'execution_id', 'execution_type', 'product_id', 'error'],
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
    description:
      'A bundle was canceled, by request or because its eSIM was terminated. `execution_id` is that of the termination.',
    data: ['iccid', 'bundle_id', 'product_id'],
    optional: ['execution_id'],
  },
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventTypeName[];

export function fieldsOfEvent(type: EventTypeName): {
  always: readonly Field[];
  sometimes: readonly Field[];
} {
  const { data, optional = [] }: EventType = eventTypes[type];
  // An order may have a reference, and so everything it made.
  const isOfOrder = data.some((field) => field === 'product_id');
  return { always: data, sometimes: isOfOrder ? [...optional, 'reference'] : optional };
}

/** An event of this type, as a webhook delivers it. */
export function exampleEvent(type: EventTypeName) {
  const { data, example = {} }: EventType = eventTypes[type];
  const fields = data.map((field) => {
    const { examples } = eventDataFields[field] as { examples?: readonly unknown[] };
    return [field, example[field] ?? examples?.[0]] as const;
  });
  return {
    id: exampleId(idPrefixes.event),
    type,
    object: 'event',
    created: exampleTime,
    data: Object.fromEntries(fields) as Record<string, unknown>,
  };
}

/** Pattern of event type names, including made-up ones for test events. */
export const eventTypePattern = '^[a-z0-9_]+(\\.[a-z0-9_]+)*$';
