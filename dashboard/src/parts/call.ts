/** A call of the API as data: the page sends it, and shows it as curl. */
export type ApiCall = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/v1/esims`. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
};

/** The call for a shell. It names the variable and never contains a key. */
export function curlOf(
  call: ApiCall,
  { idempotencyKey, serviceAccount }: { idempotencyKey?: string; serviceAccount?: string } = {},
): string {
  const { method, path, query, body } = call;
  const search = query && Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '';
  const hasBody = body !== undefined;
  return [
    `curl${method === 'GET' || (method === 'POST' && hasBody) ? '' : ` -X ${method}`} ${quoted(location.origin + path + search)}`,
    '-H "Authorization: Bearer $SIMPLANE_API_KEY"',
    ...(serviceAccount === undefined ? [] : [`-H ${quoted(`Service-Account: ${serviceAccount}`)}`]),
    ...(idempotencyKey === undefined ? [] : [`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`]),
    ...(hasBody ? ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body))}`] : []),
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
