import type { DocOperation, OpenApiDocument, Schema } from './document.ts';
import { readOperations, resolve } from './document.ts';
import { exampleOf } from './example.ts';

export type CurlSample = {
  command: string;
  /** Path values that the reader must replace. */
  placeholders: string[];
};

/**
 * A curl command ready to paste. Its idempotency key is fixed, so pasting it twice is a retry and not a second order.
 * `$(uuidgen)` would also fail in the many containers that lack it.
 */
export function curlSample(operation: DocOperation, document: OpenApiDocument, baseUrl: string): CurlSample {
  const placeholders: string[] = [];
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const { value, exists } = pathValue(operation, name, document);
    if (!exists) placeholders.push(value);
    return encodeURIComponent(value);
  });
  const lines = [`curl ${quote(baseUrl.replace(/\/+$/, '') + path + query(operation, document))}`];
  if (operation.method !== 'GET' && !(operation.method === 'POST' && operation.body)) {
    lines[0] = lines[0]?.replace('curl ', `curl -X ${operation.method} `) ?? '';
  }
  lines.push('-H "Authorization: Bearer $SIMPLANE_API_KEY"');
  if (operation.parameters.some((parameter) => parameter.name === 'Idempotency-Key')) {
    lines.push(`-H ${quote(`Idempotency-Key: ${kebab(operation.id)}-1`)}`);
  }
  if (operation.body) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(
      `-d ${quote(JSON.stringify(exampleOf(operation.body.schema, document), null, 2).replaceAll('\n', '\n  '))}`,
    );
  }
  return { command: lines.join(' \\\n  '), placeholders };
}

/** Shell-quotes the text in single quotes. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Required query parameters, plus a small `limit` so that a list fits the screen. */
function query(operation: DocOperation, document: OpenApiDocument): string {
  const search = new URLSearchParams();
  for (const { name, schema, required, in: where } of operation.parameters) {
    if (where !== 'query') continue;
    if (required) search.set(name, String(exampleOf(schema, document, name)));
    else if (name === 'limit') search.set(name, '3');
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** Examples given in the document are values that exist; any other value is a placeholder. */
function pathValue(operation: DocOperation, name: string, document: OpenApiDocument) {
  const own = operation.parameters.find((parameter) => parameter.in === 'path' && parameter.name === name);
  if (own?.schema.examples?.[0] !== undefined) return { value: String(own.schema.examples[0]), exists: true };
  const schema = own?.schema.pattern
    ? own.schema
    : (fieldReturnedAs(operation, name, document) ?? own?.schema ?? {});
  return { value: String(exampleOf(schema, document, name)), exists: false };
}

/** `/v1/events/{id}/replay` takes the `id` that `GET /v1/events/{id}` or `GET /v1/events` returns. */
function fieldReturnedAs(
  operation: DocOperation,
  name: string,
  document: OpenApiDocument,
): Schema | undefined {
  const upToName = operation.path.slice(0, operation.path.indexOf(`{${name}}`) + name.length + 2);
  const collection = upToName.slice(0, upToName.lastIndexOf('/'));
  const reads = readOperations(document).filter((candidate) => candidate.method === 'GET');
  for (const path of [upToName, collection]) {
    const response = reads.find((candidate) => candidate.path === path)?.successes[0]?.schema;
    if (!response) continue;
    const object = resolve(response, document);
    const items = object.properties?.['data']?.items;
    const field = resolve(items ?? object, document).properties?.[name];
    if (field) return field;
  }
  return undefined;
}

function kebab(id: string): string {
  return id
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();
}
