/**
 * What a lone event costs at least, as a child process: stores it with its delivery, answers, sends the webhook and stores the result,
 * with a statement for each. It checks and leases nothing, and a crash would lose the delivery.
 */
import pg from 'pg';
import { serveTasks } from '../support/child.ts';
import { newUuid } from './bare-accepts.ts';
import { createPoster, storeDeliveries } from './bare-deliveries.ts';
import { startBareServer } from './bare-server.ts';

export type BareEvents = { databaseUrl: string; receiverUrl: string };

async function start({ databaseUrl, receiverUrl }: BareEvents): Promise<string> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const { rows } = await db.query<{ account_id: string; id: string }>(
    'select account_id, id from webhook_endpoints limit 1',
  );
  const endpoint = rows[0] as { account_id: string; id: string };
  const post = createPoster(receiverUrl, 1);

  return startBareServer(async (_, response, text) => {
    const { type, data } = JSON.parse(text);
    const uuid = newUuid();
    const id = `evt_${uuid}`;
    const body = JSON.stringify({ id, type, object: 'event', created: Math.floor(Date.now() / 1_000), data });
    await db.query({
      name: 'bare_event',
      text: insertEvent,
      values: [endpoint.account_id, uuid, type, body, endpoint.id],
    });
    response.writeHead(202, { 'content-type': 'application/json' }).end(body);
    const at = new Date();
    await post.send({ event_id: uuid, body });
    await storeDeliveries(db, endpoint.account_id, [{ id: uuid, at, durationMs: Date.now() - at.getTime() }]);
  });
}

// The delivery has the id of its event.
const insertEvent = `
with told as (
  insert into events (account_id, id, type, created_at, body) values ($1, $2, $3, now(), $4)
)
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
values ($1, $2, $2, $5, 'event', now())`;

serveTasks({ start });
