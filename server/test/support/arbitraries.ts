import fc from 'fast-check';
import type { Described, JsonSchema, Parameter } from './openapi-schemas.ts';
import type { RawRequest } from './raw-http.ts';

type Text = fc.Arbitrary<string>;

/** JSON that cannot be stored: invalid text, numbers out of range, or extreme nesting. */
const unstorableJson = [
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"x\\ud83d"',
  '1e400',
  '-1e999',
  '{"\\u0000":1}',
  '{"\\udfff":"a"}',
  '[["\\u0000"]]',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
] as const;

const oddNumbers = [
  '1e400',
  '9007199254740993',
  '-0',
  '0.1',
  '-1',
  '1e-400',
  '1E5',
  '99999999999999999999999',
  '1.0',
];
const oddTexts = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '😀'.repeat(40),
  'é',
  '\u202e',
  '\ufeff',
  "' or 1=1 --",
  '../../etc',
  '$1',
  '%00',
];
const oddNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'length',
  '\u0000',
  '😀'.repeat(35),
];

const anyText: Text = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.integer({ min: 1, max: 20_000 }).map((length) => 'x'.repeat(length)),
);

const anyJson: Text = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: anyText.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.constantFrom(...oddNumbers, ...unstorableJson) },
  { weight: 1, arbitrary: fc.constantFrom('{}', '[]', 'null', 'true', '[{}]', '{"__proto__":{"a":1}}') },
);

const anyName: Text = fc.oneof(fc.constantFrom(...oddNames), anyText);

/** JSON that mostly matches the schema; close enough that many requests are accepted. */
function validJson(schema: JsonSchema): Text {
  const { enum: values, const: only, examples, anyOf, oneOf, type } = schema;
  if (only !== undefined) return fc.constant(JSON.stringify(only));
  if (values) return fc.constantFrom(...values).map((value) => JSON.stringify(value));
  const branches = anyOf ?? oneOf;
  if (branches) return fc.oneof(...branches.map(validJson));
  const own = fc.oneof(...[type ?? 'null'].flat().map((one) => validOfType(one, schema)));
  if (!examples) return own;
  const fromExamples = fc.constantFrom(...examples).map((example) => JSON.stringify(example));
  return fc.oneof({ weight: 2, arbitrary: fromExamples }, { weight: 1, arbitrary: own });
}

const quotedTexts = new Map<string, Text>();

/** Made once: the same few patterns and lengths are in most schemas, and fast-check takes milliseconds to prepare each. */
function quotedText(name: string, make: () => Text): Text {
  const known = quotedTexts.get(name) ?? make().map((value) => JSON.stringify(value));
  quotedTexts.set(name, known);
  return known;
}

const textMatching = (pattern: string) =>
  quotedText(pattern, () => fc.stringMatching(new RegExp(pattern, 'u')));

const textOfLength = (minLength: number, maxLength: number) =>
  quotedText(`${minLength} to ${maxLength}`, () => fc.string({ unit: 'grapheme', minLength, maxLength }));

function validOfType(type: string, schema: JsonSchema): Text {
  const { minLength = 0, maxLength = 200, minimum, maximum, minItems = 0, maxItems = 5, pattern } = schema;
  switch (type) {
    case 'string':
      return pattern ? textMatching(pattern) : textOfLength(minLength, Math.min(maxLength, 600));
    case 'integer':
    case 'number':
      return fc
        .integer({ min: minimum ?? -1000, max: Math.min(maximum ?? 1_000_000, 2 ** 31 - 1) })
        .map(String);
    case 'boolean':
      return fc.boolean().map(String);
    case 'array':
      return fc
        .array(validJson(schema.items ?? {}), { minLength: minItems, maxLength: maxItems })
        .map((items) => `[${items.join(',')}]`);
    case 'object':
      return validMembers(schema).map(objectText);
    default:
      return fc.constant('null');
  }
}

type Member = readonly [name: string, value: string];

/** Uses the schema's examples too: some fields are valid only in certain combinations. */
function validMembers(schema: JsonSchema): fc.Arbitrary<Member[]> {
  const { examples } = schema;
  if (!examples) return declaredMembers(schema);
  const fromExamples = fc
    .constantFrom(...examples)
    .map((example) =>
      Object.entries(example as object).map(([name, value]): Member => [name, JSON.stringify(value)]),
    );
  return fc.oneof(fromExamples, declaredMembers(schema));
}

function declaredMembers(schema: JsonSchema): fc.Arbitrary<Member[]> {
  const { properties = {}, required = [], additionalProperties, maxProperties = 5, propertyNames } = schema;
  const declared = Object.entries(properties).map(([name, inner]) =>
    fc.option(
      validJson(inner).map((value): Member => [name, value]),
      { nil: null, freq: required.includes(name) ? 1_000 : 2 },
    ),
  );
  const free =
    typeof additionalProperties === 'object'
      ? fc.array(
          fc.tuple(
            fc.string({ minLength: 1, maxLength: propertyNames?.maxLength ?? 40 }),
            validJson(additionalProperties),
          ),
          { maxLength: Math.min(maxProperties, 4) },
        )
      : fc.constant([]);
  return fc
    .tuple(fc.tuple(...declared), free)
    .map(([own, others]) => [...own.filter((member) => member !== null), ...others]);
}

function objectText(members: readonly Member[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** A valid body, or one with one or more errors. */
function bodyText(schema: JsonSchema | null): Text {
  const members = schema ? validMembers(schema) : fc.constant<Member[]>([]);
  const names = Object.keys(schema?.properties ?? {});
  const someName = names.length > 0 ? fc.oneof(fc.constantFrom(...names), anyName) : anyName;
  return fc.oneof(
    { weight: 4, arbitrary: members.map(objectText) },
    {
      weight: 6, // a member replaced, added or repeated; JSON allows duplicate names
      arbitrary: fc
        .tuple(members, fc.array(fc.tuple(someName, anyJson), { minLength: 1, maxLength: 3 }), fc.boolean())
        .map(([own, odd, isFirst]) => objectText(isFirst ? [...odd, ...own] : [...own, ...odd])),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(members, fc.nat(8))
        .map(([own, index]) => objectText(own.filter((_, i) => i !== index))),
    },
    { weight: 1, arbitrary: anyJson },
    { weight: 1, arbitrary: members.map((own) => `[${objectText(own)}]`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(members, fc.nat(60), anyText)
        .map(([own, at, text]) => objectText(own).slice(0, at) + text),
    },
  );
}

function body(schema: JsonSchema | null): fc.Arbitrary<Uint8Array | null> {
  const text = bodyText(schema).map((value) => Buffer.from(value));
  return fc.oneof(
    { weight: 12, arbitrary: text },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant(new Uint8Array()) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: text.map((bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes])) },
    {
      weight: 1, // invalid UTF-8 inside otherwise valid JSON
      arbitrary: text.map((bytes) => Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xc3, 0x28]), bytes])),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(1_000, 200_000, 262_144, 262_145, 400_000)
        .map((size) => Buffer.from(`{"product_id":"${'x'.repeat(size - 17)}"}`)),
    },
  );
}

/** Text for a request line: percent-encoded, sometimes incorrectly. */
const urlText: Text = fc.oneof(
  {
    weight: 6,
    arbitrary: anyText.map((text) =>
      encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?')).slice(0, 2_000),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '%00',
      '%',
      '%zz',
      '%ED%A0%80',
      '%F0%9F%98%80',
      '%C0%80',
      '..',
      '.',
      '%2F',
      '%2e%2e%2f',
      '+',
      ';',
      '*',
      '~',
    ),
  },
);

function queryParameters(operation: Described): Parameter[] {
  return operation.parameters.filter((parameter) => parameter.in === 'query');
}

function validParameter({ name, schema }: Parameter): Text {
  return validJson(schema).map((json) => `${name}=${encodeURIComponent(json.replaceAll(/^"|"$/g, ''))}`);
}

function queryText(parameters: Parameter[]): Text {
  const oddValue = fc.oneof(
    fc.constantFrom('0', '-1', '1', '100', '101', '1e3', '0x1', '1.5', '', 'null', '99999999999999999999'),
    urlText,
  );
  const known = parameters.map((parameter) =>
    fc.oneof(
      { weight: 1, arbitrary: validParameter(parameter) },
      { weight: 2, arbitrary: oddValue.map((value) => `${parameter.name}=${value}`) },
    ),
  );
  const unknown = fc.tuple(fc.oneof(urlText, fc.constantFrom(...oddNames.map(encodeURIComponent))), urlText);
  const odd = fc.oneof(
    unknown.map(([name, value]) => `${name}=${value}`),
    urlText,
    fc.constantFrom('limit[]=1', 'limit[gte]=1', 'limit', 'limit=1&limit=2', '&&&', '=', '__proto__[a]=1'),
  );
  const part =
    known.length > 0
      ? fc.oneof({ weight: 5, arbitrary: fc.oneof(...known) }, { weight: 1, arbitrary: odd })
      : odd;
  return fc
    .array(part, { maxLength: 3 })
    .map((parts) => (parts.length > 0 ? `?${parts.join('&')}` : ''))
    .filter((text) => text.length < 8_000); // a longer request line never reaches the operation
}

const headerText: Text = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 300 }),
  fc.string({
    unit: fc.integer({ min: 0xa1, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 20,
  }),
);

const contentType: Text = fc.oneof(
  { weight: 12, arbitrary: fc.constant('application/json') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'application/json;charset=latin1',
      'application/json ; charset="utf-8"',
      'text/plain',
      'application/jsonp',
      'application/problem+json',
      'multipart/form-data; boundary=x',
      '',
      ';',
      'application/json, text/plain',
    ),
  },
  { weight: 1, arbitrary: headerText },
);

const idempotencyKey: Text = fc.oneof(fc.constantFrom('a', 'b', 'c', '', ' ', 'k'.repeat(256)), headerText);
const version: Text = fc.oneof(
  { weight: 3, arbitrary: fc.constant('2026-11-01') },
  { weight: 1, arbitrary: headerText },
);

const headers = fc
  .record({
    'Content-Type': contentType,
    'Idempotency-Key': sometimes(2, idempotencyKey),
    'Service-Version': sometimes(4, version),
    'Content-Encoding': sometimes(15, fc.constantFrom('identity', 'gzip', 'br')),
    Accept: sometimes(4, fc.oneof(fc.constantFrom('text/html', '*/*', 'image/png'), headerText)),
  })
  .map((all) =>
    Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null)),
  );

/** One time in `oneIn`, else null. */
function sometimes<T>(oneIn: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

/** Ids of existing objects, keyed by the path segment before them. */
export type ExistingIds = Record<string, string[]>;

/** Any request to an operation: valid, almost valid, or absurd. */
export function requestTo(operation: Described, ids: ExistingIds): fc.Arbitrary<RawRequest> {
  return fc.oneof(
    { weight: 1, arbitrary: plainRequest(operation, ids) },
    { weight: 4, arbitrary: oddRequest(operation, Object.values(ids).flat()) },
  );
}

/**
 * The same requests in every run, so that no run lacks a success or a refusal: one with an unknown version, and the others plain. Few of
 * them succeed where an operation ends its object, or takes only one object of several with one of several bodies.
 */
export function fixedRequests(operation: Described, ids: ExistingIds, count: number): RawRequest[] {
  const plain = fc.sample(plainRequest(operation, ids), { numRuns: count, seed: 1 });
  return plain.map((request, index) => (index === 0 ? withUnknownVersion(request) : request));
}

function withUnknownVersion(request: RawRequest): RawRequest {
  return { ...request, headers: { ...request.headers, 'Service-Version': '1970-01-01' } };
}

/** An existing object of the right kind, the required parameters and a valid body, nothing else. */
function plainRequest(operation: Described, ids: ExistingIds): fc.Arbitrary<RawRequest> {
  const kinds = [...operation.path.matchAll(/(\w+)\/\{\w+\}/g)].map(([, kind = '']) => kind);
  const path = fc
    .tuple(...kinds.map((kind) => fc.constantFrom(...(ids[kind] ?? ['']))))
    .map((values) => operation.path.replaceAll(/\{\w+\}/g, () => values.shift() ?? ''));
  const query = fc
    .tuple(
      ...queryParameters(operation)
        .filter(({ required }) => required)
        .map(validParameter),
    )
    .map((parts) => (parts.length > 0 ? `?${parts.join('&')}` : ''));
  const members = operation.body ? validMembers(operation.body) : fc.constant<Member[]>([]);
  return fc.tuple(path, query, members).map(([path, query, own]) => ({
    method: operation.method,
    path: path + query,
    headers: { 'Content-Type': 'application/json' },
    body: operation.method === 'GET' ? null : Buffer.from(objectText(own)),
    chunked: false,
  }));
}

function oddRequest(operation: Described, ids: string[]): fc.Arbitrary<RawRequest> {
  const placeholderCount = operation.path.split(/\{\w+\}/).length - 1;
  const value = fc.oneof(fc.constantFrom(...ids), urlText);
  const path = fc.array(value, { minLength: placeholderCount, maxLength: placeholderCount }).map((values) => {
    let next = 0;
    return operation.path.replaceAll(/\{\w+\}/g, () => values[next++] ?? '');
  });
  const isWrite = operation.method !== 'GET';
  return fc.record({
    method: fc.constant(operation.method),
    path: fc.tuple(path, queryText(queryParameters(operation))).map((parts) => parts.join('')),
    headers,
    body: isWrite ? body(operation.body) : sometimes(8, body(null)),
    chunked: fc.boolean(),
  });
}

/** A body that is valid except for one value that cannot be stored. */
export function unstorableBody(schema: JsonSchema | null): Text {
  const members = schema ? validMembers(schema) : fc.constant<Member[]>([]);
  const names = Object.keys(schema?.properties ?? {});
  const name = fc.oneof(fc.constantFrom('metadata', 'note', '__proto__', ...names), anyName);
  const nested = fc
    .tuple(fc.constantFrom(...unstorableJson), fc.nat(3))
    .map(([json, depth]) => `${'{"a":['.repeat(depth)}${json}${']}'.repeat(depth)}`);
  return fc.tuple(members, name, nested).map(([own, at, json]) => objectText([...own, [at, json]]));
}
