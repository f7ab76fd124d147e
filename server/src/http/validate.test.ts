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

test('the length of a text that is too long is told as the limit counts it, in characters', () => {
  expect(refusalOf({ name: '😀😀😀' })).toBeNull();
  expect(refusalOf({ name: '😀😀😀😀' })?.message).toBe('name must have at most 3 characters; got 4.');
});
