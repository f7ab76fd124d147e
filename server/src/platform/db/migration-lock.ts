import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

// An arbitrary constant, but the same in every release.
const lockId = 7_305_124_801;
const retryEveryMs = 200;

type Holder = { pid: number; name: string; address: string | null; since: string; state: string | null };
export type Wait = { boundMs: number; onWait(says: string): void };

/**
 * Begins a transaction that holds the migration lock, or throws an error that names the holder. The lock ends with the
 * transaction; behind a transaction pooler, a session lock would outlive its client and never be released.
 */
export async function beginLocked(client: pg.Client, { boundMs, onWait }: Wait): Promise<void> {
  const deadlineMs = performance.now() + boundMs;
  let reported = '';
  for (;;) {
    await client.query('begin');
    if (await tryLock(client, 'pg_try_advisory_xact_lock')) return;
    const holder = await readHolder(client);
    await client.query('rollback');
    const says = describe(holder);
    if (performance.now() > deadlineMs) {
      throw new Error(
        `the migration lock was not free within ${boundMs / 1_000} s: it is held by ${says}. Wait for that process, or end it with pg_terminate_backend(${holder?.pid ?? 'pid'})`,
      );
    }
    if (says !== reported) onWait(`waiting for the migration lock, held by ${says}`);
    reported = says;
    await delay(retryEveryMs);
  }
}

/**
 * Waits until no migration is running, without taking the lock. A process that is connected before this returns was seen by
 * the migration, or sees the migrated schema. A lock without a transaction was left by an older release's session and is ignored.
 */
export async function waitForMigration(client: pg.Client, { boundMs, onWait }: Wait): Promise<void> {
  const deadlineMs = performance.now() + boundMs;
  let reported = '';
  while (!(await tryLock(client, 'pg_try_advisory_xact_lock_shared'))) {
    const holder = await readHolder(client);
    if (holder?.state === 'idle') return;
    const says = describe(holder);
    if (performance.now() > deadlineMs) {
      throw new Error(`a migration has been running for more than ${boundMs / 1_000} s, by ${says}`);
    }
    if (says !== reported) onWait(`waiting for a running migration, by ${says}`);
    reported = says;
    await delay(retryEveryMs);
  }
}

/**
 * How long a migration waits for a table's lock. After 1 s (deadlock_timeout), PostgreSQL ends an autovacuum that holds it. Whoever
 * needs the table waits behind the migration, and a filtered list is ended after 2 s.
 */
export const lockWaitMs = 1_500;
// The statements that waited behind it run in between.
const pauseMs = 1_000;
// The lock was not available in time, or waiting for it made a deadlock with a transaction that waits for another table of the migration.
const lockStates = ['55P03', '40P01'];

/**
 * Repeats a migration's transaction that did not get a table's lock in `lockWaitMs`, or ended in a deadlock, for as long as it waits for the migration
 * lock. A backup or a long query holds such a lock, and every statement on the table would wait for it behind the migration.
 */
export async function retryForLocks<T>(
  attempt: () => Promise<T>,
  what: string,
  { boundMs, onWait }: Wait,
): Promise<T> {
  const deadlineMs = performance.now() + boundMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt();
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      if (!lockStates.includes(cause?.code ?? '')) throw error;
      if (performance.now() > deadlineMs) {
        throw new Error(
          `${what} did not get a table’s lock within ${boundMs / 1_000} s: a long transaction holds it, such as a backup. Nothing was changed; start again when that is over`,
          { cause },
        );
      }
      if (isFirst) onWait(`${what} waits for a table’s lock, which a long transaction holds`);
      await delay(pauseMs);
    }
  }
}

async function tryLock(client: pg.Client, how: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${how}($1) as taken`, [lockId]);
  return rows[0]?.taken === true;
}

/** pg_locks shows a lock on a bigint as two halves. */
async function readHolder(client: pg.Client): Promise<Holder | undefined> {
  const { rows } = await client.query<Holder>(
    `select a.pid, a.application_name as name, host(a.client_addr) as address, a.state,
            to_char(coalesce(a.xact_start, a.state_change, a.backend_start) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as since
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' and l.objsubid = 1
       and l.classid::bigint = $1::bigint >> 32 and l.objid::bigint = $1::bigint & 4294967295
       and l.database = (select oid from pg_database where datname = current_database())`,
    [lockId],
  );
  return rows[0];
}

function describe(holder: Holder | undefined): string {
  if (!holder) return 'another process';
  const { pid, name, address, since, state } = holder;
  const from = address ? `from ${address}` : 'on a local socket';
  return `pid ${pid} ("${name}" ${from}, ${state ?? 'state not visible'}, since ${since})`;
}
