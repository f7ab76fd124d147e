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
  const followed = await followEvents(simplane);
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
    followed,
  };
}

/** Reads the same event from a stream, by long polling and with a consumer. */
async function followEvents(simplane) {
  const { cursor } = await simplane.events.feed();
  const type = 'runtime.followed';
  await simplane.events.sendTest({ type, data: {} });
  const seen = [];
  for (const transport of ['stream', 'poll']) {
    const leaving = new AbortController();
    const feed = simplane.events.follow({ after: cursor, type, transport, signal: leaving.signal });
    for await (const event of feed) {
      seen.push(event.type);
      setTimeout(() => leaving.abort(), 50); // while it waits for the next event
    }
    for await (const event of simplane.events.follow({ after: cursor, transport })) {
      seen.push(event.type);
      break;
    }
  }
  const done = new AbortController();
  const handler = (event) => {
    seen.push(event.type);
    done.abort();
  };
  const consumer = `runtime-${crypto.randomUUID()}`;
  await simplane.consumers.run(consumer, handler, { after: cursor, type: [type], signal: done.signal });
  const { behind } = await simplane.consumers.get(consumer);
  return [...seen, behind];
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
  followed: [...Array(5).fill('runtime.followed'), 0],
};
