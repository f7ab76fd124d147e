import { isWrite, type Operation, operations } from '@simplane/contract';
import fc from 'fast-check';
import { test } from 'vitest';
import { parseJsonBody } from './json-body.ts';
import { compileValidator, type ObjectSchema, type Validator } from './validate.ts';

const sizeBytes = 64 * 1024;

/** How names of members look. V8 hashes strings of 16,384 characters and more by their length alone, so such names collide. */
const nameLengths = [1, 40, 1_000, 16_383, 16_384, 17_000, 60_000] as const;
const namings = {
  repeated: (length: number) => 'a'.repeat(length),
  alike: (length: number, index: number) => `${'a'.repeat(Math.max(0, length - 6))}${index}`.padEnd(length),
  numeric: (_: number, index: number) => String(index * 4_294_967),
  escaped: (length: number, index: number) => `${'\\u0061'.repeat(Math.ceil(length / 6))}${index}`,
} as const;

const values = [
  '1',
  '9007199254740993',
  `-${'9'.repeat(300)}`,
  '9'.repeat(100_000),
  '1e21',
  '0.1',
  `1${'0'.repeat(20)}.5`,
  '"x"',
  '"\\ud83d\\ude00"',
  `"${'\\"'.repeat(500)}"`,
  `"${'é'.repeat(10_000)}"`,
  'null',
  '[]',
  `${'['.repeat(63)}${']'.repeat(63)}`,
  `${'{"a":'.repeat(60)}9007199254740993${'}'.repeat(60)}`,
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
] as const;

type Shape = { naming: keyof typeof namings; nameLength: number; value: string; holds: 'members' | 'list' };

const shapes: fc.Arbitrary<Shape> = fc.record({
  naming: fc.constantFrom(...(Object.keys(namings) as (keyof typeof namings)[])),
  nameLength: fc.constantFrom(...nameLengths),
  value: fc.constantFrom(...values),
  holds: fc.constantFrom('members', 'list'),
});

/** A body of about `sizeBytes` in which one member or item is repeated. */
function bodyOf({ naming, nameLength, value, holds }: Shape): string {
  const nameOf = (index: number) =>
    JSON.stringify(namings[naming](nameLength, index)).replaceAll('\\\\u', '\\u');
  const partOf = (index: number) => (holds === 'list' ? value : `${nameOf(index)}:${value}`);
  const count = Math.max(1, Math.floor(sizeBytes / (partOf(1).length + 1)));
  const parts = Array.from({ length: count }, (_, index) => partOf(index)).join(',');
  return holds === 'list' ? `{${nameOf(0)}:[${parts}]}` : `{${parts}}`;
}

const schemas = Object.values<Operation>(operations).flatMap((operation) =>
  isWrite(operation) && operation.body ? [operation.body as ObjectSchema] : [],
);
const targets = schemas.flatMap((schema): [name: string, validate: Validator][] => {
  const validate = compileValidator(schema);
  return ['', ...Object.keys(schema.properties)].map((name) => [name, validate]);
});

/** CPU milliseconds to parse and validate a body; refusals are part of it. */
function costOf(text: string, validate: Validator): number {
  const bytes = Buffer.from(text);
  const before = process.cpuUsage();
  for (const isCanonicalWanted of [true, false]) {
    try {
      validate(parseJsonBody(bytes, { isCanonicalWanted }).value);
    } catch {
      // refused
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of several runs: the first ones compile, and others use the CPU too. */
function leastCostOf(text: string, validate: Validator): number {
  return Math.min(...Array.from({ length: 10 }, () => costOf(text, validate)));
}

test('parsing and validating costs what the bytes cost, whatever the names and numbers in them', () => {
  const records = Array.from({ length: sizeBytes / 70 }, (_, n) => ({
    record_id: `cdr-${n}`,
    bytes: n,
    at: 1,
  }));
  const [, validate] = targets[0] as [string, Validator];
  // At least a millisecond, which is 16 ns a byte. What a shape may cost at most is 20 times that; a quadratic one costs thousands.
  const limitMs = 20 * Math.max(1, leastCostOf(JSON.stringify({ records }), validate));
  const oneOfEach = targets.map(([name], index): [Shape, number] => [
    {
      naming: 'alike',
      nameLength: 17_000,
      value: '9007199254740993',
      holds: name === '' ? 'list' : 'members',
    },
    index,
  ]);
  fc.assert(
    fc.property(shapes, fc.nat({ max: targets.length - 1 }), (shape, target) => {
      const [name, validate] = targets[target] as [string, Validator];
      const body = bodyOf(shape);
      const text = name === '' ? body : `{${JSON.stringify(name)}:${body}}`;
      return costOf(text, validate) < limitMs || leastCostOf(text, validate) < limitMs;
    }),
    { numRuns: 400, examples: oneOfEach, endOnFailure: true },
  );
});
