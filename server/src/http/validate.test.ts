import { expect, test } from 'vitest';
import { compileValidator } from './validate.ts';

const text = { type: 'string', maxLength: 3 };
const item = { type: 'object', properties: { name: text }, required: ['name'], additionalProperties: false };
const refusalOf = compileValidator({
  ...{ type: 'object', additionalProperties: false },
  properties: { name: text, items: { type: 'array', items: item, maxItems: 2 } },
});

test.each([
  [{ items: [{ name: 'a' }, {}] }, 'parameter_missing', 'items[1].name', 'items[1].name is required.'],
  [{ items: [{ name: 1 }] }, 'parameter_invalid', 'items[0].name', 'items[0].name must be a string; got 1.'],
  [
    { items: [{ nam: 'a', name: 'b' }] },
    ...(['parameter_unknown', 'items[0].nam'] as const),
    'items[0].nam is not a parameter; this operation takes name.',
  ],
  [{ items: [1, 2, 3] }, 'parameter_invalid', 'items', 'items must have at most 2 items; got a list of 3.'],
])('an error names the member that is wrong, where it is: %j', (body, code, param, message) => {
  expect(refusalOf(body)).toMatchObject({ code, param, message });
});

const limits = compileValidator({
  ...{ type: 'object', additionalProperties: false },
  properties: {
    count: { type: 'integer', minimum: 2, maximum: 3 },
    code: { type: 'string', minLength: 2, pattern: '^[a-z]*$' },
    list: { type: 'array', minItems: 2, uniqueItems: true, items: { enum: ['a', 'b', 7] } },
    one: { type: 'array', minItems: 1 },
    map: { type: 'object', maxProperties: 2, propertyNames: { type: 'string', minLength: 1, maxLength: 40 } },
    either: { type: ['string', 'null', 'object'] },
  },
});

test.each([
  [{ count: 1 }, 'count must be at least 2; got 1.'],
  [{ count: 4 }, 'count must be at most 3; got 4.'],
  [{ count: 'x' }, 'count must be an integer; got "x".'],
  [{ code: 'a' }, 'code must have at least 2 characters; got "a".'],
  [{ code: 'A1' }, 'code must match ^[a-z]*$; got "A1".'],
  [{ list: ['a'] }, 'list must have at least 2 items; got a list of 1.'],
  [{ list: ['a', 'a'] }, 'list must not repeat an item; got a list of 2.'],
  [{ list: ['a', 'c'] }, 'list[1] must be one of a, b, 7; got "c".'],
  [{ one: [] }, 'one must not be empty; got a list of 0.'],
  [{ map: { a: 1, b: 2, c: 3 } }, 'map must have at most 2 entries; got 3.'],
  [{ map: { '': 1 } }, 'map. has a name of the wrong length: names must have 1 to 40 characters; got "".'],
  [{ either: 7 }, 'either must be a string or null or an object; got 7.'],
])('a refusal says what is allowed and what came: %j', (body, message) => {
  expect(limits(body)?.message).toBe(message);
});

test('the length of a text that is too long is told as the limit counts it, in characters', () => {
  expect(refusalOf({ name: '😀😀😀' })).toBeNull();
  expect(refusalOf({ name: '😀😀😀😀' })?.message).toBe('name must have at most 3 characters; got 4.');
});
