import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';

export type BarePosts = { url: string; inFlight: number; count: number };

/** The ceiling for delivering: a bare undici loop that sends the same signed POSTs to the same receiver. */
export async function barePosts({ url, inFlight, count }: BarePosts): Promise<{ elapsedMs: number }> {
  const dispatcher = new Agent({ connections: inFlight, pipelining: 1 });
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const run = randomBytes(8).toString('hex');
  const startedAtMs = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (sent < count) {
        sent += 1;
        const id = `evt_${run}${String(sent).padStart(10, '0')}`;
        const body = eventBody(id);
        const at = Math.floor(Date.now() / 1_000);
        const response = await request(url, {
          method: 'POST',
          dispatcher,
          body,
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Simplane/bench',
            'service-signature': `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`,
            'webhook-id': id,
            'webhook-timestamp': String(at),
            'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`,
          },
        });
        await response.body.dump();
        if (response.statusCode !== 200) throw new Error(`the receiver answered ${response.statusCode}`);
      }
    }),
  );
  const elapsedMs = performance.now() - startedAtMs;
  await dispatcher.close();
  return { elapsedMs };
}

/** As long as the body of a real `esim.provisioned`. */
function eventBody(id: string): string {
  return JSON.stringify({
    id,
    type: 'esim.provisioned',
    object: 'event',
    created: 1_800_000_000,
    data: {
      iccid: '89999010000000000000',
      execution_id: 'exec_01k9zzzzzzzzzzzzzzzzzzzzzz',
      product_id: 'prod_europe_5gb_30d',
    },
  });
}
