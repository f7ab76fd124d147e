import type { AuditActorType, AuditWay } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { Claim } from '../../../platform/idempotency/claim.ts';
import {
  claimKeys,
  hasItsKey,
  type KeyedRow,
  locksKey,
  otherOutcomes,
} from '../../../platform/idempotency/keys-in-statement.ts';
import type { Answer } from '../../../platform/idempotency/outcome.ts';
import { emitFrom } from '../emit.ts';
import { type QueuedDelivery, splitQueued, withQueued } from '../hand-over.ts';
import type { NewEvent } from '../new-event.ts';

export type NewTestEvent = {
  event: NewEvent;
  claim: Claim | null;
  answer: Answer;
  audit: {
    uuid: string;
    actor: { type: AuditActorType; id: string | null; name: string | null };
    eventId: string;
    /** JSON. */
    changes: string;
    requestId: string | null;
    ip: string | null;
    via: AuditWay | null;
  };
};

/** With what a `Committed` needs. */
type Sent = { outcome: 'sent'; deliveries: QueuedDelivery[]; sentAtMs: number };

/** Writes test events in one statement, each with its audit entry and its answer, and returns one outcome per row, in input order. */
export async function sendTestEventRows(db: Queryable, rows: NewTestEvent[]): Promise<(KeyedRow | Sent)[]> {
  const sentAtMs = performance.now();
  const read = await db.query<{ n: number } & KeyedRow & QueuedDelivery>(send, [
    ...given.values(rows),
    rows[0]?.answer.status, // that of all
  ]);
  const { own: others, deliveriesOf } = splitQueued(read);
  const results: (KeyedRow | Sent)[] = rows.map(({ event }) => ({
    outcome: 'sent',
    deliveries: deliveriesOf(event),
    sentAtMs,
  }));
  for (const { n, ...result } of others) results[n - 1] = result;
  return results;
}

const given = rowsOf<NewTestEvent>({
  account_id: column.uuid(({ event }) => event.accountUuid),
  event_id: column.uuid(({ event }) => event.uuid),
  event_type: column.text(({ event }) => event.type),
  event_at: column.timestamptz(({ event }) => event.createdAt),
  event_body: column.text(({ event }) => event.body),
  event_subscriptions: column.text(({ event }) => event.subscriptions),
  key: column.text(({ claim }) => claim?.key ?? null),
  fingerprint: column.bytea(({ claim }) => claim?.fingerprint ?? null),
  created_at: column.timestamptz(({ claim, event }) => claim?.createdAt ?? event.createdAt),
  location: column.text(({ answer }) => answer.location),
  body: column.text(({ answer }) => answer.body),
  audit_id: column.uuid(({ audit }) => audit.uuid),
  actor_type: column.text(({ audit }) => audit.actor.type),
  actor_id: column.text(({ audit }) => audit.actor.id),
  actor_name: column.text(({ audit }) => audit.actor.name),
  target_id: column.text(({ audit }) => audit.eventId),
  changes: column.text(({ audit }) => audit.changes),
  request_id: column.text(({ audit }) => audit.requestId),
  ip: column.text(({ audit }) => audit.ip),
  via: column.text(({ audit }) => audit.via),
});

const send = {
  name: 'event_send_test',
  text: `
with checked as materialized (
  select given.*, $${given.next}::integer as status, ${locksKey} as locked
  from ${given.table} given
), ${claimKeys()}, wanted as materialized (
  select *
  from checked
  where locked and ${hasItsKey}
), ${emitFrom('wanted', { isTest: true })}, audited as (
  insert into audit_log
    (account_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, changes, request_id, ip, via, created_at)
  select account_id, audit_id, actor_type, actor_id, actor_name, 'event.test_sent', 'event', target_id, changes::jsonb, request_id,
    ip, via, event_at
  from wanted
)${withQueued(otherOutcomes('event_id in (select event_id from wanted)'), 6)}`,
};
