import { componentName, type OpenApiDocument, type Parameter, resolve, type Schema } from './document.ts';
import { type Html, html } from './html.ts';
import { paragraphs } from './markdown.ts';
import { constraints, typeLabel } from './schema-type.ts';

/** Lists an object's fields, including nested ones. A nested resource is a link. */
export function fieldList(schema: Schema, document: OpenApiDocument, purpose: 'request' | 'response'): Html {
  const plain = resolve(schema, document);
  const parts = [plain, ...(plain.allOf ?? []).map((part) => resolve(part, document))];
  const required = new Set(parts.flatMap((part) => part.required ?? []));
  const rows = parts.flatMap((part) =>
    Object.entries(part.properties ?? {}).map(([name, field]) =>
      row({ name, schema: field, document, purpose, note: presence(required.has(name), purpose) }),
    ),
  );
  return rows.length === 0 ? html`` : html`<dl class="fields">${rows}</dl>`;
}

export function parameterList(parameters: readonly Parameter[], document: OpenApiDocument): Html {
  return html`<dl class="fields">${parameters.map(({ name, schema, required, description, in: where }) =>
    row({
      name,
      schema: description === undefined ? schema : { ...schema, description },
      document,
      purpose: 'request',
      where,
      note: presence(required, 'request'),
    }),
  )}</dl>`;
}

type Row = {
  name: string;
  schema: Schema;
  document: OpenApiDocument;
  purpose: 'request' | 'response';
  note: Html | null;
  where?: string;
};

function row({ name, schema, document, purpose, note, where }: Row): Html {
  const phrases = constraints(schema);
  return html`<div class="field"><dt><code class="name">${name}</code> <span class="type">${typeLabel(schema, document)}</span>${
    where && html` <span class="where">in ${where}</span>`
  }${note && html` ${note}`}</dt><dd>${paragraphs(schema.description)}${choices(schema)}${
    phrases.length > 0 &&
    html`<ul class="constraints">${phrases.map((phrase) => html`<li>${phrase}</li>`)}</ul>`
  }${nested(schema, document, purpose)}</dd></div>`;
}

/** Request fields are marked required or optional; response fields only if they may be absent. */
function presence(required: boolean, purpose: 'request' | 'response'): Html | null {
  if (purpose === 'request') {
    return required
      ? html`<span class="required">required</span>`
      : html`<span class="optional">optional</span>`;
  }
  return required ? null : html`<span class="optional">may be absent</span>`;
}

function choices(schema: Schema): Html | null {
  const values = schema.enum ?? schema.items?.enum;
  if (!values) return null;
  const list = html`<ul class="choices">${values.map((value) => html`<li><code>${plain(value)}</code></li>`)}</ul>`;
  if (values.length <= 12) return html`<div class="enum"><span>One of</span>${list}</div>`;
  return html`<details class="more"><summary>One of ${values.length} values</summary>${list}</details>`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function nested(schema: Schema, document: OpenApiDocument, purpose: 'request' | 'response'): Html | null {
  if (componentName(schema) !== null) return null;
  if (schema.properties) return fieldList(schema, document, purpose);
  if (schema.items) return nested(schema.items, document, purpose);
  if (typeof schema.additionalProperties === 'object')
    return nested(schema.additionalProperties, document, purpose);
  const variants = (schema.anyOf ?? schema.oneOf ?? []).filter((variant) => variant.type !== 'null');
  const inner = variants.map((variant) => nested(variant, document, purpose)).filter((one) => one !== null);
  if (inner.length < 2) return inner[0] ?? null;
  return html`${inner.map((one, index) => html`<p class="variant">Form ${index + 1}</p>${one}`)}`;
}
