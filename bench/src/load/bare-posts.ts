import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { createSigner } from './signer.ts';

export type BarePosts = { url: string; inFlight: number; count: number };

/** The ceiling for delivering: a bare undici loop that sends the same signed POSTs to the same receiver. */
export async function barePosts({ url, inFlight, count }: BarePosts): Promise<{ elapsedMs: number }> {
  const dispatcher = new Agent({ connections: inFlight, pipelining: 1 });
  const sign = createSigner();
  const run = randomBytes(8).toString('hex');
  const startedAtMs = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (sent < count) {
        sent += 1;
        const id = `evt_${run}${String(sent).padStart(10, '0')}`;
        const body = eventBody(id);
        const response = await request(url, { method: 'POST', dispatcher, body, headers: sign(id, body) });
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
export function eventBody(id: string, iccid = '89999010000000000000'): string {
  return JSON.stringify({
    id,
    type: 'esim.provisioned',
    object: 'event',
    created: 1_800_000_000,
    data: {
      iccid,
      execution_id: 'exec_01k9zzzzzzzzzzzzzzzzzzzzzz',
      product_id: 'prod_europe_5gb_30d',
    },
  });
}
