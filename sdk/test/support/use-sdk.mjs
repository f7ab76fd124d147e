/**
 * Uses what the SDK takes from its runtime: fetch, timers, streams and crypto. Tests run it in Cloudflare's, and
 * `npm run sdk:runtimes` in Deno and Bun. Must return `expectedReport`.
 */
export async function useSdk({ createSimplane, webhooks, ApiError }, { baseUrl, apiKey, redirectingUrl }) {
  const attempts = [];
  const onResponse = ({ method, attempt, status }) => attempts.push([method, attempt, status]);
  const simplane = createSimplane({ apiKey, baseUrl, onResponse });
  const { mode } = await simplane.me();
  const firstAttempt = attempts[0];
  const { esim, install } = await simplane.esims.provisionAndWait({ product_id: 'prod_europe_5gb_30d' });
  const products = await simplane.products.list({ limit: 2 }).toArray({ limit: 3 });
  const missing = await simplane.esims.get('8999901999999999999').catch((error) => error);
  const redirecting = createSimplane({ apiKey, baseUrl: redirectingUrl });
  const redirected = await redirecting.me().catch((error) => error);
  const aborted = await simplane
    .me({ signal: AbortSignal.abort(new Error('enough')) })
    .catch((error) => error);
  const body = '{"type":"esim.provisioned"}';
  const event = await webhooks.verify(body, await webhooks.sign(body, 'whsec_x'), 'whsec_x');
  return {
    mode,
    firstAttempt,
    status: esim.status,
    lpa: install.lpa.slice(0, 6),
    products: products.length,
    missing: missing instanceof ApiError && missing.code,
    redirected: redirected instanceof ApiError && redirected.message,
    aborted: aborted.message,
    event: event.type,
  };
}

export const expectedReport = {
  mode: 'sandbox',
  firstAttempt: ['GET', 1, 200],
  status: 'provisioned',
  lpa: 'LPA:1$',
  products: 3,
  missing: 'resource_missing',
  redirected:
    'GET /v1/me was redirected to http://127.0.0.1:9 (HTTP 307). The SDK follows no redirect, because another server could ' +
    'then get the API key. Set baseUrl to the address where the API itself answers.',
  aborted: 'enough',
  event: 'esim.provisioned',
};
