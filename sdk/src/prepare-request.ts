import { SimplaneError } from './errors.ts';
import { currentApiVersion, sdkVersion } from './generated.ts';

export type Request = {
  method: string;
  path: string;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
  accept?: string;
};

/** Built once for all attempts, so that an invalid request fails without retries. */
export type PreparedRequest = { url: string; init: RequestInit };

/** Returns a function that builds requests to one deployment with one API key. */
export function requestBuilder(apiKey: string, baseUrl: string, serviceAccount?: string) {
  if (!apiKey) throw new SimplaneError('An API key is required: createSimplane({ apiKey }).');
  // `fetch` would refuse it too, with an error that contains the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey.trim()))
    throw new SimplaneError('The API key is malformed: keys are ASCII without spaces and line breaks.');
  const base = baseOf(baseUrl);
  return (request: Request, idempotencyKey?: string): PreparedRequest => {
    const headers = new Headers({
      Authorization: `Bearer ${apiKey}`,
      Accept: request.accept ?? 'application/json',
      'Service-Version': currentApiVersion,
      'User-Agent': `simplane-node/${sdkVersion}`,
      ...(serviceAccount !== undefined && { 'Service-Account': serviceAccount }),
      ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    });
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    // Following a redirect could send the API key to another server. Cloudflare Workers have no `redirect: 'error'`.
    const init: RequestInit = { method: request.method, headers, body, redirect: 'manual' };
    return { url: base + request.path + queryOf(request.query), init };
  };
}

function baseOf(baseUrl: string): string {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new SimplaneError(`baseUrl must be a URL such as https://api.example.com; got ${baseUrl}.`);
  }
  return baseUrl.replace(/\/+$/, '');
}

function queryOf(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => parametersOf(name, value));
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}

/** An array is written as `name=a,b`, an object as `name[key]=value`. */
function parametersOf(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, String(value)]];
  return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)]);
}
