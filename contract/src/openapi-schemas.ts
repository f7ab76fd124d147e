import type { TSchema } from 'typebox';
import { Event } from './event.ts';
import {
  type EventTypeName,
  eventDataFields,
  eventTypeNames,
  eventTypes,
  exampleEvent,
  fieldsOfEvent,
} from './event-types.ts';
import type { Operation } from './operation.ts';

/** The name of the union of all event types. */
export const webhookEventName = 'WebhookEvent';

/** `createEsim` takes a `CreateEsimRequest`. */
export function requestName(operationId: string): string {
  return `${pascalCase(operationId)}Request`;
}

/** `esim.provisioned` is delivered as an `EsimProvisionedEvent`. */
export function eventName(type: EventTypeName): string {
  return `${pascalCase(type)}Event`;
}

/** The body as a named schema. */
function requestSchema(operationId: string, body: TSchema): object {
  return {
    ...body,
    title: requestName(operationId),
    description: `Body of \`${operationId}\`.`,
  };
}

/** Every schema with a title is a component: resources, lists, requests and events. */
export function namedSchemas(operations: Record<string, Operation>, others: object[]): Map<string, object> {
  const named = new Map<string, object>();
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { title } = schema as { title?: unknown };
    if (typeof title === 'string') {
      const known = named.get(title);
      if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
        throw new Error(`Two different schemas have the title ${title}; rename one.`);
      }
      named.set(title, schema);
    }
    // A resource in an example can have a field `title`.
    for (const [key, value] of Object.entries(schema)) if (key !== 'examples') collect(value);
  };
  for (const [id, { body, response }] of Object.entries(operations)) {
    if (body) collect(requestSchema(id, body));
    collect(response);
  }
  others.forEach(collect);
  eventTypeNames.map(eventSchema).forEach(collect);
  named.set(webhookEventName, webhookEvent());
  return new Map([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Replaces every named schema with a reference, except the schema itself. */
export function linkSchemas(schema: unknown, named: ReadonlyMap<string, object>, self?: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => linkSchemas(item, named));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title } = schema as { title?: unknown };
  if (typeof title === 'string' && title !== self && named.has(title)) return schemaRef(title);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, linkSchemas(value, named)]));
}

export function schemaRef(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

function eventSchema(type: EventTypeName): object {
  const { always, sometimes } = fieldsOfEvent(type);
  return {
    ...Event,
    title: eventName(type),
    description: eventTypes[type].description,
    examples: [exampleEvent(type)],
    properties: {
      ...Event.properties,
      type: { type: 'string', const: type },
      data: {
        type: 'object',
        required: always,
        properties: Object.fromEntries(
          [...always, ...sometimes].map((field) => [field, eventDataFields[field]]),
        ),
      },
    },
  };
}

/** For receivers that handle several types: `type` says which one it is. */
function webhookEvent(): object {
  return {
    title: webhookEventName,
    description:
      'An event of any type. Ignore types that you do not know: new ones are added. A test event can have any type.',
    oneOf: eventTypeNames.map((type) => schemaRef(eventName(type))),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(eventTypeNames.map((type) => [type, schemaRef(eventName(type)).$ref])),
    },
    examples: eventTypeNames.slice(0, 1).map(exampleEvent),
  };
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[._])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
