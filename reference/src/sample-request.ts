import { exampleCursor, exampleGroupId, idPattern, idPrefixes } from '@simplane/contract';
import type { DocOperation } from './document.ts';

export type SampleRequest = {
  method: string;
  /** The environment variable with the key. */
  keyVariable: string;
  /** With the example values of the parameters, and the query. */
  path: string;
  query: Record<string, unknown>;
  idempotencyKey?: string;
  body?: unknown;
};

/**
 * The request that every sample of an operation sends. Its idempotency key is fixed, so pasting a sample twice is a retry and not a
 * second order; `$(uuidgen)` would also fail in the many containers that lack it.
 */
export function sampleRequest(operation: DocOperation): SampleRequest {
  const { method, parameters, body, id } = operation;
  const values = pathValues(operation);
  const path = operation.path.replace(/\{[^}]+\}/g, () => encodeURIComponent(values.shift() ?? ''));
  const query = queryOf(operation);
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return {
    method,
    keyVariable: operation.isOperators ? 'SIMPLANE_OPERATOR_KEY' : 'SIMPLANE_API_KEY',
    path: search.size === 0 ? path : `${path}?${search}`,
    query,
    ...(parameters.some(({ name }) => name === 'Idempotency-Key') && { idempotencyKey: `${kebab(id)}-1` }),
    ...(body && { body: body.example ?? {} }),
  };
}

/** The example values of the path parameters, in the order of the path. */
export function pathValues({ path, parameters }: DocOperation): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => {
    const own = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name);
    return String(own?.example ?? name);
  });
}

/** The values in a sample that exist in no deployment, so the reader must replace them. */
export function placeholdersIn({ path, body }: SampleRequest): string[] {
  const values = `${path} ${JSON.stringify(body ?? '')}`.split(/[^A-Za-z0-9_]+/);
  return [...new Set(values)].filter(
    (value) =>
      /^89\d{16,18}$/.test(value) ||
      value === exampleCursor ||
      value === exampleGroupId ||
      isGeneratedId(value),
  );
}

/** Simplane generates these ids, so they differ between deployments; product ids are the operator's. */
function isGeneratedId(text: string): boolean {
  return Object.values(idPrefixes).some((prefix) => new RegExp(idPattern(prefix)).test(text));
}

/** Required query parameters, a small `limit` so that a list fits the screen, and the start of the feed, which shows events at once. */
function queryOf({ method, parameters }: DocOperation): Record<string, unknown> {
  return Object.fromEntries(
    parameters
      .filter(
        ({ in: where, required, name }) =>
          where === 'query' && (required || method !== 'GET' || ['limit', 'after'].includes(name)),
      )
      .map(({ name, example }) => [name, example]),
  );
}

function kebab(id: string): string {
  return id
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();
}
