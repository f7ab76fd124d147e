// biome-ignore lint/suspicious/noExplicitAny: tests assert on the JSON's content.
export type Reply = { status: number; headers: Headers; text: string; json: any };

type Target = { url: string; key: string };
type Request = {
  key?: string | null;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string | Uint8Array<ArrayBuffer>;
  idempotencyKey?: string;
};

/** One request over real HTTP. `body` is sent as JSON, `raw` unchanged. */
export async function call(
  target: Target,
  method: string,
  path: string,
  request: Request = {},
): Promise<Reply> {
  const key = request.key === undefined ? target.key : request.key;
  const headers: Record<string, string> = { ...request.headers };
  if (key !== null) headers['Authorization'] ??= `Bearer ${key}`;
  if (request.idempotencyKey !== undefined) headers['Idempotency-Key'] = request.idempotencyKey;
  const body = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  if (body !== undefined && !('Content-Type' in headers)) headers['Content-Type'] = 'application/json';
  const response = await fetch(target.url + path, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

export function provision(
  target: Target,
  idempotencyKey?: string,
  body: unknown = { product_id: 'prod_europe_5gb_30d' },
) {
  return call(target, 'POST', '/v1/esims', { body, ...(idempotencyKey !== undefined && { idempotencyKey }) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
