import { componentName, type OpenApiDocument, type Schema } from './document.ts';
import { type Html, html, slug } from './html.ts';

/** The type as text with links to resources: `string or null`, `array of Product`. */
export function typeLabel(schema: Schema, document: OpenApiDocument): Html {
  const name = componentName(schema);
  if (name !== null) return html`<a href="#resource-${slug(name)}">${name}</a>`;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return joinWith(' or ', unique(variants, document));
  const type = mainType(schema);
  const nullable = [schema.type].flat().includes('null') && type !== 'null' ? ' or null' : '';
  if (type === 'array' && schema.items) return html`array of ${typeLabel(schema.items, document)}${nullable}`;
  return html`${type === 'any' ? 'any value' : type}${nullable}`;
}

function mainType(schema: Schema): string {
  const type = [schema.type].flat().find((candidate) => candidate !== 'null' && candidate !== undefined);
  if (type !== undefined) return type;
  if (schema.properties || schema.additionalProperties !== undefined) return 'object';
  if (schema.items) return 'array';
  const value = schema.const ?? schema.enum?.[0];
  return value === undefined || value === null ? (schema.type === 'null' ? 'null' : 'any') : typeof value;
}

/** The value's constraints beyond its type, one short phrase each. */
export function constraints(schema: Schema): Html[] {
  const { propertyNames: names, additionalProperties: values, items } = schema;
  const phrases: (Html | null)[] = [
    schema.const === undefined ? null : html`Always <code>${JSON.stringify(schema.const)}</code>`,
    schema.default === undefined ? null : html`Default <code>${JSON.stringify(schema.default)}</code>`,
    schema.format === undefined ? null : html`Format <code>${schema.format}</code>`,
    range(schema.minLength, schema.maxLength, 'character'),
    range(schema.minimum, schema.maximum, ''),
    schema.exclusiveMinimum === undefined ? null : html`Greater than ${digits(schema.exclusiveMinimum)}`,
    schema.exclusiveMaximum === undefined ? null : html`Less than ${digits(schema.exclusiveMaximum)}`,
    schema.multipleOf === undefined ? null : html`Multiple of ${digits(schema.multipleOf)}`,
    range(schema.minItems, schema.maxItems, 'item'),
    schema.uniqueItems ? html`No duplicates` : null,
    range(schema.minProperties, schema.maxProperties, 'key'),
    names && both(html`Keys: `, range(names.minLength, names.maxLength, 'character', within)),
    names?.pattern === undefined ? null : html`Keys match <code>${names.pattern}</code>`,
    typeof values === 'object'
      ? html`Values: ${mainType(values)}${both(html`, `, range(values.minLength, values.maxLength, 'character', within))}`
      : null,
    schema.pattern === undefined ? null : html`Matches <code>${schema.pattern}</code>`,
    items?.pattern === undefined ? null : html`Each matches <code>${items.pattern}</code>`,
    items && mainType(items) === 'string'
      ? both(html`Each: `, range(items.minLength, items.maxLength, 'character', within))
      : null,
    items && /^(integer|number)$/.test(mainType(items))
      ? both(html`Each: `, range(items.minimum, items.maximum, '', within))
      : null,
  ].map((phrase) => phrase ?? null);
  return phrases.filter((phrase): phrase is Html => phrase !== null);
}

const within = { most: 'at most', least: 'at least', exactly: 'exactly' };

function range(
  least: number | undefined,
  most: number | undefined,
  unit: string,
  words = { most: 'At most', least: 'At least', exactly: 'Exactly' },
): Html | null {
  // MAX_SAFE_INTEGER is a limit of JSON, not of the API.
  const top = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  const counted = (n: number) => (unit === '' ? '' : ` ${unit}${n === 1 ? '' : 's'}`);
  if (least !== undefined && top !== undefined) {
    if (least === top) return html`${words.exactly} ${digits(top)}${counted(top)}`;
    return html`${digits(least)} to ${digits(top)}${counted(top)}`;
  }
  if (top !== undefined) return html`${words.most} ${digits(top)}${counted(top)}`;
  if (least !== undefined && (least > 0 || unit === ''))
    return html`${words.least} ${digits(least)}${counted(least)}`;
  return null;
}

function both(before: Html, after: Html | null): Html | null {
  return after && html`${before}${after}`;
}

function digits(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 10 });
}

function unique(variants: readonly Schema[], document: OpenApiDocument): Html[] {
  const seen = new Set<string>();
  return variants
    .filter((variant) => {
      const key = componentName(variant) ?? JSON.stringify([variant.type, variant.items]);
      return !seen.has(key) && seen.add(key);
    })
    .map((variant) => typeLabel(variant, document));
}

function joinWith(separator: string, parts: Html[]): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`;
}
