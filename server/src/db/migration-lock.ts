import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

// Any constant does, as long as every version of this program uses the same one.
const lockId = 7_305_124_801;
const lookAgainMs = 200;

type Holder = { pid: number; name: string; address: string | null; since: string; state: string | null };
export type Wait = { boundMs: number; onWait(says: string): void };

/**
 * Begins a transaction that holds the migration lock, or gives up and says who has it. The lock ends with the transaction:
 * a session's lock would outlive its client behind a transaction pooler, and nobody could ever take it again.
 */
export async function beginLocked(client: pg.Client, { boundMs, onWait }: Wait): Promise<void> {
  const giveUpAtMs = performance.now() + boundMs;
  let said = '';
  for (;;) {
    await client.query('begin');
    if (await tryLock(client, 'pg_try_advisory_xact_lock')) return;
    const holder = await readHolder(client);
    await client.query('rollback');
    const says = describe(holder);
    if (performance.now() > giveUpAtMs) {
      throw new Error(
        `the migration lock was not free within ${boundMs / 1_000} s: it is held by ${says}. Wait until that ends, or end it with pg_terminate_backend(${holder?.pid ?? 'pid'})`,
      );
    }
    if (says !== said) onWait(`waiting for the migration lock, held by ${says}`);
    said = says;
    await delay(lookAgainMs);
  }
}

/**
 * Waits until no migration is under way, holding nothing. A process that is connected before this returns was seen by the
 * migration, or sees the migration. A lock without a transaction was left behind by an older release's session, and is
 * nothing to wait for.
 */
export async function waitForMigration(client: pg.Client, { boundMs, onWait }: Wait): Promise<void> {
  const giveUpAtMs = performance.now() + boundMs;
  let said = '';
  while (!(await tryLock(client, 'pg_try_advisory_xact_lock_shared'))) {
    const holder = await readHolder(client);
    if (holder?.state === 'idle') return;
    const says = describe(holder);
    if (performance.now() > giveUpAtMs) {
      throw new Error(`a migration has been under way for more than ${boundMs / 1_000} s, by ${says}`);
    }
    if (says !== said) onWait(`waiting for a migration that is under way, by ${says}`);
    said = says;
    await delay(lookAgainMs);
  }
}

async function tryLock(client: pg.Client, how: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${how}($1) as taken`, [lockId]);
  return rows[0]?.taken === true;
}

/** A lock on one bigint is shown as its two halves. */
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
