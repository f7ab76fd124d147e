import type { Queryable } from '../../db/database.ts';

type NewRecovery = {
  accountUuid: string;
  uuid: string;
  endpointUuid: string;
  fromEvent: string;
  untilEvent: string;
  createdAt: Date;
};

/** Returns false if the endpoint is no longer enabled. */
export async function insertRecovery(tx: Queryable, recovery: NewRecovery): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'recovery_insert',
      text: `insert into recoveries (account_id, id, endpoint_id, from_event, until_event, position, created_at)
             select account_id, $3, id, $4, $5, $5, $6 from webhook_endpoints
             where account_id = $1 and id = $2 and status = 'enabled'
             returning 1`,
    },
    [
      recovery.accountUuid,
      recovery.endpointUuid,
      recovery.uuid,
      recovery.fromEvent,
      recovery.untilEvent,
      recovery.createdAt,
    ],
  );
  return rows.length > 0;
}

export type RecoveryRow = {
  account_id: string;
  id: string;
  endpoint_id: string;
  from_event: string;
  position: string;
  enabled_event_types: string[];
};

/**
 * Locks one free recovery and its endpoint, without waiting. The endpoint's lock serializes its recoveries and keeps it from being
 * disabled halfway. The recovery at the newest event goes first, so a long recovery does not delay a short one.
 */
export async function lockRecovery(tx: Queryable): Promise<RecoveryRow | null> {
  const [row] = await tx.query<RecoveryRow>({
    name: 'recovery_take',
    text: `select recovery.account_id, recovery.id, recovery.endpoint_id, recovery.from_event, recovery.position,
                  endpoint.enabled_event_types
           from recoveries recovery
           join webhook_endpoints endpoint
             on endpoint.account_id = recovery.account_id and endpoint.id = recovery.endpoint_id
           where recovery.finished_at is null and endpoint.status = 'enabled' and ${isReady}
           order by recovery.position desc
           limit 1
           for update of recovery skip locked
           for no key update of endpoint skip locked`,
  });
  return row ?? null;
}

// An event written while the endpoint was disabled may commit after the recovery was requested. So the first batch waits until
// all transactions older than the recovery have ended and their events are visible.
const isReady = `(recovery.position < recovery.until_event
  or age(recovery.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid))`;

/** Ends recoveries whose endpoint was disabled or deleted; the owner requests a new one after enabling it. */
export async function closeOrphanedRecoveries(db: Queryable, at: Date): Promise<void> {
  await db.query(
    {
      name: 'recovery_close_hopeless',
      text: `update recoveries closed set finished_at = $1
             from (select account_id, id from recoveries open
                   where finished_at is null and not exists (
                     select 1 from webhook_endpoints endpoint
                     where endpoint.account_id = open.account_id and endpoint.id = open.endpoint_id
                       and endpoint.status = 'enabled')
                   for update skip locked) orphaned
             where closed.account_id = orphaned.account_id and closed.id = orphaned.id`,
    },
    [at],
  );
}

/** The next events before the position, newest first. */
export function readEvents(
  tx: Queryable,
  { account_id, position, from_event }: RecoveryRow,
  count: number,
): Promise<{ id: string; type: string }[]> {
  return tx.query(
    {
      name: 'recovery_read_events',
      text: `select id, type from events where account_id = $1 and id < $2 and id >= $3 order by id desc limit $4`,
    },
    [account_id, position, from_event, count],
  );
}

/** Queues the given events, except those already delivered to the endpoint or pending for it. */
export async function insertMissed(
  tx: Queryable,
  { account_id, endpoint_id }: RecoveryRow,
  given: { uuids: string[]; eventUuids: string[]; createdAt: Date },
): Promise<number> {
  const rows = await tx.query(
    {
      name: 'recovery_insert_missed',
      text: `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, due_at, created_at)
             select $1, given.id, given.event_id, $2, 'pending', 'recovery', now(), $3
             from unnest($4::uuid[], $5::uuid[]) as given (id, event_id)
             where not exists (
               select 1 from deliveries
               where account_id = $1 and event_id = given.event_id and endpoint_id = $2
                 and status in ('pending', 'succeeded'))
             returning 1`,
    },
    [account_id, endpoint_id, given.createdAt, given.uuids, given.eventUuids],
  );
  return rows.length;
}

export async function advanceRecovery(
  tx: Queryable,
  { account_id, id }: RecoveryRow,
  { position, finishedAt }: { position: string; finishedAt: Date | null },
): Promise<void> {
  await tx.query(
    {
      name: 'recovery_move',
      text: `update recoveries set position = $3, finished_at = $4 where account_id = $1 and id = $2`,
    },
    [account_id, id, position, finishedAt],
  );
}
