import { Type as Library } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from '../src/type.ts';

test('our builders make the same schemas as TypeBox', () => {
  const schemas = ({ Object: object, Optional: optional, ...build }: typeof Type) => {
    const name = build.String({ minLength: 1, description: 'A name.' });
    const rest = {
      count: optional(build.Integer({ minimum: 0 })),
      isOpen: build.Boolean(),
      kind: build.Literal('kind'),
      deleted: build.Literal(true, { description: 'Always true.' }),
      codes: build.Record(build.String(), name, { maxProperties: 3 }),
      either: build.Unsafe<string | null>({ type: ['string', 'null'] }),
    };
    return [
      object({ name, ...rest, optional: optional(name) }, { additionalProperties: false }),
      object({ only: optional(name) }),
      object({}),
      build.Array(object({ name }), { maxItems: 2 }),
    ];
  };
  // As text, since the order of members shows in the documents made from them.
  expect(JSON.stringify(schemas(Type))).toBe(JSON.stringify(schemas(Library)));
});

test('an enum says that it is of strings, which TypeBox leaves out', () => {
  const [values, options] = [['a', 'b'], { description: 'Its status.' }];
  expect(Type.Enum(values, options)).toEqual({ type: 'string', ...Library.Enum(values, options) });
});
