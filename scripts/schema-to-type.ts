type Schema = {
  title?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  type?: string | string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
};

/** Converts a JSON Schema of the contract to a TypeScript type. A schema whose title is in `names` becomes a reference. */
export function typeOf(input: object, names: ReadonlySet<string>, self?: string): string {
  const schema = input as Schema;
  if (schema.title && schema.title !== self && names.has(schema.title)) return schema.title;
  if ('const' in schema) return JSON.stringify(schema.const).replaceAll('"', "'");
  if (schema.enum) return schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, names)).join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, names, self)).join(' | ');
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayOf(typeOf(schema.items ?? {}, names));
    case 'object':
      return objectOf(schema, names);
  }
  throw new Error(`cannot convert this schema to a type: ${JSON.stringify(schema)}`);
}

function arrayOf(item: string): string {
  return /^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function objectOf(
  { properties, required = [], patternProperties, additionalProperties }: Schema,
  names: ReadonlySet<string>,
) {
  if (!properties) {
    const [value] = Object.values(patternProperties ?? {});
    const other = value ?? (typeof additionalProperties === 'object' ? additionalProperties : null);
    return `Record<string, ${other ? typeOf(other, names) : 'unknown'}>`;
  }
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    return `\n${describe(schema)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema, names)};`;
  });
  return `{${indent(fields.join(''))}\n}`;
}

/** The contract's description as a doc comment. */
export function describe({ description }: { description?: string }): string {
  return description ? `/** ${description.replaceAll('*/', '* /')} */\n` : '';
}

export function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
