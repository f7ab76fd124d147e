import pg from 'pg';
import { Agent, type Dispatcher } from 'undici';
import { grouped } from './grouped.ts';
import { createSigner } from './signer.ts';

export type BareDeliveries = { databaseUrl: string; url: string; inFlight: number; count: number };

type Due = { account_id: string; id: string; event_id: string; body: string };
type Ended = Due & { at: Date; durationMs: number };

const batchSize = 256;

/**
 * The ceiling for delivering with a database: reads due rows in batches, sends the same signed POSTs, and moves them to the history in
 * batches. No leases, limits, health or retries, so a second one, or a failure, would break it.
 */
export async function bareDeliveries(input: BareDeliveries): Promise<{ elapsedMs: number }> {
  const { databaseUrl, url, inFlight, count } = input;
  const [reader, writer] = [databaseUrl, databaseUrl].map(
    (connectionString) => new pg.Client({ connectionString }),
  ) as [pg.Client, pg.Client];
  await Promise.all([reader.connect(), writer.connect()]);
  const post = createPoster(url, inFlight);
  const store = grouped<Ended>((ended) => storeDeliveries(writer, ended[0]?.account_id as string, ended));
  const stored: Promise<void>[] = [];
  const startedAtMs = performance.now();
  const due = readDue(reader, count);
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let next = await due(); next; next = await due()) {
        const at = new Date();
        await post.send(next);
        stored.push(store({ ...next, at, durationMs: Date.now() - at.getTime() }));
      }
    }),
  );
  await Promise.all(stored);
  const elapsedMs = performance.now() - startedAtMs;
  await Promise.all([reader.end(), writer.end(), post.close()]);
  return { elapsedMs };
}

/** The next due row; undefined after the last. */
function readDue(db: pg.Client, count: number): () => Promise<Due | undefined> {
  let rows: Due[] = [];
  let reading: Promise<void> | null = null;
  let after = '00000000-0000-0000-0000-000000000000';
  let left = count;

  async function read(): Promise<void> {
    ({ rows } = await db.query<Due>({ name: 'bare_due', text: readBatch, values: [after, batchSize] }));
    after = rows.at(-1)?.id ?? after;
    rows.reverse();
    reading = null;
  }

  return async () => {
    if (left === 0) return undefined;
    left -= 1;
    while (rows.length === 0) {
      reading ??= read();
      await reading;
    }
    return rows.pop();
  };
}

const readBatch = `
select due.account_id, due.id, due.event_id, event.body
from (
  select account_id, id, event_id
  from delivery_queue
  where endpoint_id = (select id from webhook_endpoints limit 1) and attempt_count = 0 and id > $1 and due_at <= now()
  order by id
  limit $2) due
join events event on event.account_id = due.account_id and event.id = due.event_id
order by due.id`;

/** Moves ended deliveries of an account to the history. */
export async function storeDeliveries(
  db: pg.Client,
  accountUuid: string,
  ended: { id: string; at: Date; durationMs: number }[],
): Promise<void> {
  await db.query({
    name: 'bare_ended',
    text: storeBatch,
    values: [
      accountUuid,
      ended.map(({ id }) => id),
      ended.map(({ at }) => at),
      ended.map(({ durationMs }) => durationMs),
    ],
  });
}

const storeBatch = `
with ended as (
  delete from delivery_queue q
  using unnest($2::uuid[], $3::timestamptz[], $4::integer[]) as given (id, at, duration_ms)
  where q.account_id = $1 and q.id = given.id
  returning q.account_id, q.id, q.event_id, q.endpoint_id, q.origin, q.created_at, given.at, given.duration_ms
)
insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at,
  duration_ms, status_code, response_excerpt)
select account_id, id, event_id, endpoint_id, 'succeeded', origin, 1, created_at, at, duration_ms, 200, '' from ended`;

/** Sends signed POSTs, with undici's handler interface as Simplane does. */
export function createPoster(target: string, connections: number) {
  const { origin, pathname } = new URL(target);
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const sign = createSigner();
  return {
    send: ({ event_id: id, body }: Pick<Due, 'event_id' | 'body'>) =>
      new Promise<void>((resolve, reject) => {
        const headers = sign(`evt_${id}`, body);
        const handler: Dispatcher.DispatchHandler = {
          onRequestStart() {},
          onResponseStart(_, status) {
            if (status !== 200) reject(new Error(`the receiver answered ${status}`));
          },
          onResponseData() {},
          onResponseEnd: () => resolve(),
          onResponseError: (_, error) => reject(error),
        };
        dispatcher.dispatch({ origin, path: pathname, method: 'POST', headers, body }, handler);
      }),
    close: () => dispatcher.close(),
  };
}
