// Writes one charge for each eSIM that was provisioned: exactly once, wherever this process is killed. See README.md.
import { createSimplane } from '@simplane/sdk';
import pg from 'pg';

const simplane = createSimplane({
  apiKey: process.env.SIMPLANE_API_KEY ?? '',
  baseUrl: process.env.SIMPLANE_BASE_URL,
});
const db = new pg.Client({ connectionString: process.env.BILLING_DATABASE_URL });
await db.connect();

for (;;) {
  const { rows } = await db.query(`select cursor from feed_place where reader = 'billing'`);
  const { cursor: previous } = rows[0];
  const { data, cursor } = await simplane.events.feed({
    after: previous,
    type: ['esim.provisioned'],
    limit: 100,
    wait: 20,
  });
  if (cursor !== previous) await commit(data, { cursor, previous });
}

/** The new place and the effects of all events before it commit together, or neither does. */
async function commit(events, { cursor, previous }) {
  await db.query('begin');
  // First, because it locks the row: a second process waits here, then finds the place moved and has charged nothing.
  const moved = await db.query(`update feed_place set cursor = $1 where reader = 'billing' and cursor = $2`, [
    cursor,
    previous,
  ]);
  if (moved.rowCount === 0) return db.query('rollback');
  for (const { id, data } of events) {
    // In a sandbox anybody may send a test event, with any data. One that cannot be charged must not stop the others.
    if (isChargeable(data)) await charge(id, data);
    else console.error(`${id} was skipped: it names no iccid and product_id`);
  }
  return db.query('commit');
}

function isChargeable({ iccid, product_id }) {
  return typeof iccid === 'string' && typeof product_id === 'string';
}

/** Any writes to the same database. They need not be repeatable. */
function charge(eventId, { iccid, product_id }) {
  return db.query('insert into charges (event_id, iccid, product_id) values ($1, $2, $3)', [
    eventId,
    iccid,
    product_id,
  ]);
}
