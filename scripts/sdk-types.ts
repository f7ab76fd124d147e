import {
  apiVersions,
  components,
  currentApiVersion,
  errorCodes,
  errorTypes,
  eventDataFields,
  eventTypeNames,
  eventTypes,
  fieldsOfEvent,
  type Operation,
  operations,
} from '@simplane/contract';
import { describe, indent, typeOf } from './schema-to-type.ts';

/** Generates the SDK's types and endpoint table from the contract, so the SDK itself has no dependency. */
export function sdkTypes(sdkVersion: string): string {
  return [
    '// Generated from contract/ by `npm run generate`; edit there.',
    `export const sdkVersion = '${sdkVersion}';`,
    `export const currentApiVersion = '${currentApiVersion}';`,
    `export type ApiVersion = ${union(apiVersions)};`,
    `export type ErrorType = ${union(errorTypes)};`,
    `export type ErrorCode =${errorCodes.map((code) => `\n  | '${code}'`).join('')};`,
    ...Object.entries(components)
      .filter(([name]) => name !== 'Error')
      .map(([name, schema]) => `${describe(schema)}export type ${name} = ${typeOf(schema, names, name)};`),
    `/** A page of a list; \`next_cursor\` is set when another page exists. */
export type Page<Item> = { object: 'list'; data: Item[]; has_more: boolean; next_cursor?: string };`,
    `/** The fields of \`data\`, by event type. */
export type EventData = {${eventTypeNames.map(eventData).join('')}\n};`,
    `/** The parameters and the result of every operation. */
export type Operations = {${Object.entries(operations).map(operationType).join('')}\n};`,
    `/** Method and path of every operation. */
export const endpoints = {${Object.entries(operations).map(endpoint).join('')}\n} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;`,
    '',
  ].join('\n\n');
}

const names = new Set(Object.keys(components));

function eventData(type: (typeof eventTypeNames)[number]): string {
  const { always, sometimes } = fieldsOfEvent(type);
  const fields = [
    ...always.map((field) => `\n${field}: ${typeOf(eventDataFields[field], names)};`),
    ...sometimes.map((field) => `\n${field}?: ${typeOf(eventDataFields[field], names)};`),
  ];
  return indent(`\n${describe(eventTypes[type])}'${type}': {${indent(fields.join(''))}\n};`);
}

function operationType([id, definition]: [string, Operation]): string {
  const parts = [
    ...(definition.params ? [`params: ${typeOf(definition.params, names)}`] : []),
    ...(definition.query ? [`query: ${typeOf(withSingleValues(definition.query), names)}`] : []),
    ...(definition.body ? [`body: ${typeOf(definition.body, names)}`] : []),
    `result: ${resultOf(definition)}`,
  ];
  return indent(`\n${describe(definition)}${id}: {${indent(parts.map((part) => `\n${part};`).join(''))}\n};`);
}

/** A parameter that takes several values also takes one without an array. */
function withSingleValues(query: { properties: Record<string, object> }): object {
  const properties = Object.entries(query.properties).map(([name, schema]) => {
    const { type, items, description } = schema as { type?: string; items?: object; description?: string };
    return [name, type === 'array' ? { description, anyOf: [items, schema] } : schema];
  });
  return { ...query, properties: Object.fromEntries(properties) };
}

const ofEveryPage = new Set(['object', 'data', 'has_more', 'next_cursor']);

function resultOf({ response }: Operation): string {
  const { properties } = response as {
    properties?: { object?: { const?: unknown }; data?: { items: object } };
  };
  if (properties?.object?.const !== 'list' || !properties.data) return typeOf(response, names);
  const page = `Page<${typeOf(properties.data.items, names)}>`;
  const more = Object.entries(properties).filter(([name]) => !ofEveryPage.has(name));
  if (more.length === 0) return page;
  return `${page} & ${typeOf({ type: 'object', properties: Object.fromEntries(more) }, names)}`;
}

function endpoint([id, { method, path }]: [string, Operation]): string {
  return `\n  ${id}: ['${method}', '${path}'],`;
}

function union(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(' | ');
}
