import { type ErrorCode, errors, operations } from '@simplane/contract';
import { codeBlock, jsonCode } from './code-block.ts';
import { curlSample } from './curl-sample.ts';
import {
  componentName,
  type DocOperation,
  type OpenApiDocument,
  type Parameter,
  resolve,
  type Schema,
  type SuccessResponse,
} from './document.ts';
import { heading } from './heading.ts';
import { type Html, html, slug } from './html.ts';
import { inline, paragraphs } from './markdown.ts';
import { pythonSample } from './python-sample.ts';
import { sampleGroup } from './sample-group.ts';
import { placeholdersIn, sampleRequest } from './sample-request.ts';
import { fieldList, parameterList } from './schema-table.ts';
import { typeLabel } from './schema-type.ts';
import { typescriptSample } from './typescript-sample.ts';

export type OperationContext = {
  document: OpenApiDocument;
  operations: readonly DocOperation[];
  baseUrl: string;
};

/** One operation: its parameters and response on the left, samples on the right. */
export function operationSection(operation: DocOperation, context: OperationContext): Html {
  const { document } = context;
  return html`<section class="entry" id="${operationAnchor(operation)}">
<div class="text">
${heading(3, operationAnchor(operation), operation.summary)}
<p class="endpoint"><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> <code>${breakable(operation.path)}</code></p>
${paragraphs(operation.description)}
${operation.scope !== null && html`<p class="scope">Requires a key with the <code>${operation.scope}</code> scope${operation.includedIn !== null && html` (included in <code>${operation.includedIn}</code>)`}.</p>`}
${parameterGroup(operation.parameters, 'path', document)}
${parameterGroup(operation.parameters, 'query', document)}
${operation.body && bodyFields(operation.body, document)}
${parameterGroup(operation.parameters, 'header', document)}
${operation.successes.map((success) => successResponse(success, document))}
${refusals(operation)}
</div>
<div class="samples">${samples(operation, context)}</div>
</section>`;
}

export function operationAnchor(operation: DocOperation): string {
  return `op-${slug(operation.id)}`;
}

/** Long paths may break after a slash and nowhere else. */
function breakable(path: string): Html[] {
  return path.split(/(?<=\/)/).map((piece) => html`${piece}<wbr>`);
}

const groupTitles = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' };

function parameterGroup(
  all: readonly Parameter[],
  where: Parameter['in'],
  document: OpenApiDocument,
): Html | null {
  const group = all.filter((parameter) => parameter.in === where);
  if (group.length === 0) return null;
  const list = parameterList(group, document);
  // Every operation has the same two headers, so they are collapsed.
  if (where === 'header')
    return html`<details class="more"><summary>${groupTitles[where]}</summary>${list}</details>`;
  return html`<h4>${groupTitles[where]}</h4>${list}`;
}

function bodyFields(
  { schema, required }: { schema: Schema; required: boolean },
  document: OpenApiDocument,
): Html {
  return html`<h4>Body <span class="optional">JSON${!required && ', optional'}</span></h4>${fieldList(schema, document, 'request')}`;
}

function successResponse(success: SuccessResponse, document: OpenApiDocument): Html {
  const { schema, headers, otherTypes, status } = success;
  return html`<h4>Returns</h4>
<p><span class="status ok">${status}</span> ${schema ? describeObject(schema, document) : 'No body.'}${
    otherTypes.length > 0 &&
    html` Also available with <code>Accept</code>: ${otherTypes.map((type, index) => html`${index > 0 && ', '}<code>${type}</code>`)}.`
  }</p>
${schema && html`<details class="more"><summary>Response fields</summary>${responseFields(schema, document)}</details>`}
${
  headers.length > 0 &&
  html`<details class="more"><summary>Response headers</summary><dl class="fields">${headers.map(
    ({ name, description }) =>
      html`<div class="field"><dt><code class="name">${name}</code></dt><dd><p>${inline(description)}</p></dd></div>`,
  )}</dl></details>`
}`;
}

function describeObject(schema: Schema, document: OpenApiDocument): Html {
  const object = resolve(schema, document);
  const items = object.properties?.['data']?.items;
  if (items && object.properties?.['has_more']) return html`A page of ${typeLabel(items, document)} objects.`;
  if (componentName(schema) === null)
    return html`${object.description ? inline(object.description) : 'An object.'}`;
  const name = componentName(schema) ?? '';
  return html`${/^[aeiou]/i.test(name) ? 'An' : 'A'} ${typeLabel(schema, document)} object.`;
}

/** For a list, also shows the fields of its items. */
function responseFields(schema: Schema, document: OpenApiDocument): Html {
  const items = resolve(schema, document).properties?.['data']?.items;
  const name = items && componentName(items);
  return html`${fieldList(schema, document, 'response')}${
    name &&
    html`<p class="variant">Each ${name} in <code>data</code></p>${fieldList(items, document, 'response')}`
  }`;
}

/** Shows the operation's own error codes and collapses the common ones. */
function refusals(operation: DocOperation): Html | null {
  const specific = ownRefusals.get(operation.id);
  const own = operation.refusals.filter((code) => specific?.includes(code) ?? true);
  const common = operation.refusals.filter((code) => !own.includes(code));
  if (own.length + common.length === 0) return null;
  return html`<h4>Errors</h4>${own.length > 0 && chips(own)}${
    common.length > 0 &&
    html`<details class="more"><summary>${common.length} common to similar requests</summary>${chips(common)}</details>`
  }`;
}

const ownRefusals = new Map<string, readonly ErrorCode[]>(
  Object.entries(operations).map(([id, { refusals: codes }]) => [id, codes]),
);

function chips(codes: readonly ErrorCode[]): Html {
  const sorted = [...codes].sort((a, b) => errors[a].status - errors[b].status);
  return html`<ul class="chips">${sorted.map(
    (code) =>
      html`<li><a href="#error-${code}" title="${errors[code].meaning}"><span>${errors[code].status}</span> <code>${code}</code></a></li>`,
  )}</ul>`;
}

function samples(operation: DocOperation, { operations, baseUrl }: OperationContext): Html {
  return html`${sampleGroup({
    curl: curlSample(operation, baseUrl),
    typescript: typescriptSample(operation, baseUrl),
    python: pythonSample(operation, baseUrl),
  })}${placeholdersIn(sampleRequest(operation)).map((value) => replaceHint(value, operation, operations))}${operation.successes.map(
    ({ example, status }) => example !== undefined && codeBlock(`Response ${status}`, jsonCode(example)),
  )}`;
}

/** Says where to get the id: from the list whose items have it, else from another operation that returns it. */
function replaceHint(value: string, operation: DocOperation, all: readonly DocOperation[]): Html {
  const isAlike = (other: DocOperation) => other.isOperators === operation.isOperators;
  const others = all
    .filter(({ id }) => id !== operation.id)
    .sort((a, b) => Number(isAlike(b)) - Number(isAlike(a)));
  const source =
    others.find((other) => idOf(firstItem(other)) === value) ??
    others.find(
      ({ successes: [success] }) => idOf(success?.example) === value || cursorOf(success?.example) === value,
    );
  return html`<p class="hint">Replace <code>${value}</code> with one of yours${
    source && html`, from <a href="#${operationAnchor(source)}">${source.summary}</a>`
  }.</p>`;
}

function firstItem({ successes }: DocOperation): unknown {
  const { data } = (successes[0]?.example ?? {}) as { data?: unknown };
  return Array.isArray(data) ? data[0] : undefined;
}

function cursorOf(object: unknown): unknown {
  return ((object ?? {}) as { cursor?: unknown }).cursor;
}

/** eSIMs are identified by their ICCID; other objects can have one too. */
function idOf(object: unknown): unknown {
  const { id, iccid } = (object ?? {}) as { id?: unknown; iccid?: unknown };
  return id ?? iccid;
}
