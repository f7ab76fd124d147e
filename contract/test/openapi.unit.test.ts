import { readFile } from 'node:fs/promises';
import { validate } from '@cfworker/json-schema';
import { expect, test } from 'vitest';
import { eventTypeNames, openApiDocument, operations } from '../src/index.ts';
import { namedSchemas } from '../src/openapi-schemas.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is read as a client reads it.
type Json = any;

const document = JSON.parse(JSON.stringify(openApiDocument())) as Json;
const described: Json[] = Object.values(document.paths as Json).flatMap((item) =>
  Object.values(item as Json),
);
const deliveries: Json[] = Object.values(document.webhooks as Json).map((item) => (item as Json).post);
const schemas: [string, Json][] = Object.entries(document.components.schemas);
// What a reference names. A `Validator` for each example finds that out by walking through all components.
const named = Object.fromEntries(schemas.map(([name, schema]) => [`#/components/schemas/${name}`, schema]));

test('the document that clients are made of says what the contract says; `npm run generate` writes it', async () => {
  const committed = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8')) as Json;
  // By part, because the difference of two documents of 2 MB takes long to find, and longer to read.
  const partsOf = ({ paths, components: { schemas, ...components }, webhooks, ...rest }: Json) =>
    Object.entries({ ...rest, ...components, ...paths, ...schemas, ...webhooks }).map(
      ([name, part]) => `${name}: ${JSON.stringify(part)}`,
    );
  const [now, then] = [partsOf(document), new Set(partsOf(committed))];
  const differing = now.filter((part) => !then.has(part)).map((part) => part.slice(0, 200));
  expect([differing, now.length]).toEqual([[], then.size]);
});

test('every operation has a request example and a response example that its schemas accept', () => {
  const problems = described.flatMap(({ operationId, requestBody, responses, parameters }) => [
    ...parameters.flatMap(({ name, schema, example }: Json) =>
      problemsOf(`${operationId}: parameter ${name}`, schema, example, 'give its schema `examples: […]`'),
    ),
    ...contentProblems(`${operationId}: request`, requestBody, 'give its `body` `examples: […]`'),
    ...contentProblems(
      `${operationId}: response`,
      responses[statusOf(operationId)],
      'give its `response` schema `examples: […]`, or set `responseExample`',
    ),
  ]);
  expect(problems).toEqual([]);
  // Control: references are followed, so a wrong example is found.
  const wrong = problemsOf('control', { $ref: '#/components/schemas/Execution' }, { id: 'exec_1' }, '');
  expect(wrong).not.toEqual([]);
});

test('every component has a description and examples that it accepts', () => {
  const problems = schemas.flatMap(([name, schema]) => [
    ...(schema.description ? [] : [`${name}: give its schema a \`description\` in contract/src`]),
    ...(schema.examples?.length ? [] : [`${name}: give its schema \`examples: […]\` in contract/src`]),
    ...(schema.examples ?? []).flatMap((example: unknown) =>
      problemsOf(name, schema, example, 'correct its `examples`'),
    ),
  ]);
  expect(problems).toEqual([]);
});

test('every tag, parameter, request field and response has a description', () => {
  const problems = [
    ...described
      .filter((one) => !document.tags.some((tag: Json) => tag.name === one.tags[0]))
      .map((one) => `${one.operationId}: add its tag ${one.tags[0]} to contract/src/tags.ts`),
    ...document.tags.flatMap((tag: Json) => missing(`tag ${tag.name} in contract/src/tags.ts`, tag)),
    ...[...described, ...deliveries].flatMap(({ operationId, parameters, responses }) => [
      ...parameters.flatMap((parameter: Json) =>
        missing(`${operationId}: parameter ${parameter.name}`, linked(parameter)),
      ),
      ...Object.entries(responses).flatMap(([status, response]) =>
        missing(`${operationId}: response ${status}`, response as Json),
      ),
    ]),
    ...schemas
      .filter(([name]) => name.endsWith('Request'))
      .flatMap(([name, schema]) =>
        Object.entries(schema.properties ?? {}).flatMap(([field, property]) =>
          missing(`${name}.${field}`, linked(property as Json)),
        ),
      ),
  ];
  expect(problems).toEqual([]);
});

test('requests, lists and other responses are named', () => {
  for (const { operationId, requestBody, responses } of described) {
    const { schema } = responses[statusOf(operationId)].content['application/json'];
    expect(schema, `${operationId}: give its response schema a \`title\``).toHaveProperty('$ref');
    if (requestBody) expect(requestBody.content['application/json'].schema).toHaveProperty('$ref');
  }
});

test('every event type has a webhook whose schema accepts only events of this type', () => {
  expect(Object.keys(document.webhooks)).toEqual(['event', ...eventTypeNames]);
  const union = document.components.schemas.WebhookEvent;
  for (const type of eventTypeNames) {
    const { schema, example } = document.webhooks[type].post.requestBody.content['application/json'];
    expect(problemsOf(type, schema, example, 'correct the examples of its fields')).toEqual([]);
    expect(problemsOf(type, union, example, '')).toEqual([]);
    expect(union.discriminator.mapping[type]).toBe(schema.$ref);
    const other = eventTypeNames.find((name) => name !== type);
    expect(problemsOf(type, schema, { ...example, type: other }, '')).not.toEqual([]);
    const [field] = Object.keys(example.data);
    const { [field as string]: _, ...incomplete } = example.data;
    expect(problemsOf(type, schema, { ...example, data: incomplete }, '')).not.toEqual([]);
  }
});

function statusOf(operationId: string): number {
  return operations[operationId as keyof typeof operations].status;
}

function contentProblems(name: string, described: Json, remedy: string): string[] {
  if (!described) return [];
  const { schema, example } = described.content['application/json'];
  return problemsOf(name, schema, example, remedy);
}

function problemsOf(name: string, schema: Json, example: unknown, remedy: string): string[] {
  if (example === undefined) return [`${name} has no example: ${remedy} in contract/src`];
  const { valid, errors } = validate(example, schema, '2020-12', named, false);
  const reasons = errors.map((unit) => `${unit.instanceLocation} ${unit.error}`).join(' ');
  return valid ? [] : [`${name}: the example does not match, ${remedy} in contract/src: ${reasons}`];
}

function missing(name: string, { description }: Json): string[] {
  return description?.trim() ? [] : [`${name} has no description`];
}

function linked(value: Json): Json {
  const [, kind, name] = value.$ref?.match(/^#\/components\/(\w+)\/(\w+)$/) ?? [];
  return kind === undefined ? value : document.components[kind][name];
}

test('every link leads to an operation, from members that the answer has to all its path parameters', () => {
  const byId = new Map(described.map((one) => [one.operationId, one]));
  const links = described.flatMap((from) =>
    Object.values(from.responses as Json).flatMap((response: Json) =>
      Object.values((response.links ?? {}) as Json).map((link) => ({ from, response, link: link as Json })),
    ),
  );
  expect(links.length).toBeGreaterThan(30);
  for (const { from, response, link } of links) {
    const { $ref } = response.content['application/json'].schema;
    const { properties } = document.components.schemas[$ref.split('/').at(-1)];
    const wanted = byId.get(link.operationId).parameters.filter((one: Json) => one.in === 'path');
    expect([from.operationId, Object.keys(link.parameters)]).toEqual([
      from.operationId,
      wanted.map(({ name }: Json) => name),
    ]);
    for (const value of Object.values(link.parameters) as string[]) {
      expect(properties).toHaveProperty(value.replace('$response.body#/', ''));
    }
  }
});

const byId = new Map(described.map((one) => [one.operationId, one]));
const idsOf = (isWanted: (one: Json) => unknown) =>
  described
    .filter(isWanted)
    .map((one) => one.operationId)
    .sort();
const idsWhere = (isWanted: (one: Json) => unknown) =>
  Object.entries(operations)
    .flatMap(([id, one]) => (isWanted(one as Json) ? [id] : []))
    .sort();
const says = (code: string) => (one: Json) =>
  Object.values(one.responses as Json).some((each) => (each as Json).description.includes(`\`${code}\`:`));
const isOperators = ({ scope }: Json) => scope === 'operator' || scope === 'operator_write';

test('an operation shows the headers that it takes and sends, and whose key it needs', () => {
  const isWrite = ({ method }: Json) => method !== 'GET';
  const takes = (name: string) => (one: Json) => one.parameters.some((each: Json) => each.name === name);
  const sends = (name: string, status?: string) => (one: Json) =>
    one.responses[status ?? statusOf(one.operationId)]?.headers[name];
  expect(idsOf(takes('Idempotency-Key'))).toEqual(idsWhere(isWrite));
  expect(idsOf(sends('Idempotent-Replayed'))).toEqual(idsWhere(isWrite));
  expect(idsOf(takes('Service-Version'))).toEqual(idsWhere(() => true));
  expect(idsOf(sends('Location'))).toEqual(idsWhere(({ status }) => status === 202));
  expect(idsOf(({ security }) => security?.[0]?.operatorKey)).toEqual(idsWhere(isOperators));
  for (const [status, name] of [
    ['401', 'WWW-Authenticate'],
    ['429', 'Retry-After'],
    ['429', 'RateLimit'],
    ['503', 'Retry-After'],
  ] as const)
    expect(idsOf(sends(name, status))).toEqual(idsWhere(() => true));
  expect(idsOf(sends('Retry-After', '409'))).toEqual(idsOf(({ responses }) => responses['409']));
  expect(byId.get('createEsim').description).toMatch(/\n\nRequires the `write` scope\.$/);
  expect(byId.get('getInstallProfile').description).toMatch(/`install` scope \(included in `write`\)\.$/);
});

test('an operation shows what it may refuse: a suspended account, a filter that is too broad, a wrong body', () => {
  const mayBeSuspended = ({ method, scope, allowedWhenSuspended }: Json) =>
    method !== 'GET' && scope !== 'operator' && !allowedWhenSuspended;
  expect(idsOf(says('account_suspended'))).toEqual(idsWhere(mayBeSuspended));
  expect(idsOf(says('json_invalid'))).toEqual(idsWhere(({ method }) => method !== 'GET'));
  const isFiltered = ({ method, query, streams, files }: Json) =>
    method === 'GET' &&
    !streams &&
    !files &&
    Object.keys(query?.properties ?? {}).some((name) => !/^(limit|starting_after)$/.test(name));
  expect(idsOf(says('query_too_broad'))).toEqual(idsWhere(isFiltered));
  for (const id of ['listEsims', 'listExecutions']) expect(idsOf(says('query_too_broad'))).toContain(id);
  expect(idsOf(says('api_key_missing'))).toEqual(idsWhere(() => true));
});

test('an operation shows its other answers, its limit and how a list of values is written', () => {
  const typesOf = (id: string) => Object.keys(byId.get(id).responses[200].content);
  expect(typesOf('getInstallProfile')).toEqual(['application/json', 'image/png', 'image/svg+xml']);
  expect(typesOf('listBatchInstallProfiles')).toContain('application/zip');
  expect(typesOf('readEventFeed')).toContain('text/event-stream');
  expect(Object.keys(byId.get('createEsim').responses)).toEqual(expect.arrayContaining(['200', '202']));
  expect(byId.get('createBatch').requestBody.description).toBe('At most 1 MB.');
  const written = (id: string, name: string) => {
    const { style, explode } = byId.get(id).parameters.find((one: Json) => one.name === name);
    return [style, explode];
  };
  expect(written('listExecutions', 'type')).toEqual(['form', false]);
  expect(written('listEsims', 'metadata')).toEqual(['deepObject', true]);
  const withCallbacks = idsOf(({ callbacks }) => callbacks?.event['{$request.body#/url}']);
  expect(withCallbacks).toEqual(['createWebhookEndpoint']);
});

test('a delivery needs no key, and two schemas cannot have one name', () => {
  expect(deliveries.map(({ security }) => security)).toEqual(deliveries.map(() => []));
  const twice = () =>
    namedSchemas({}, [
      { title: 'One', type: 'string' },
      { title: 'One', type: 'integer' },
    ]);
  expect(twice).toThrow('Two different schemas have the title One; rename one.');
});
