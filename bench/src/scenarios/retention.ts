import { openDatabase } from '@simplane/server/database';
import { rulesOf } from '@simplane/server/retention-rules';
import { sweep } from '@simplane/server/sweep';
import { type Cost, costOf } from '../support/cost.ts';
import { type Deployment, runSql } from '../support/deployment.ts';
import { storeOldRows } from '../support/old-rows.ts';
import { type Result, round } from '../support/scenario.ts';

// Ten times the other scenarios, because the cost must not depend on what is stored. Fewer for a quick look.
const events = Number(process.env['BENCH_RETENTION_EVENTS'] ?? 10_000_000);
const others = events / 10;
const accounts = { active: 100, empty: 20_000 };
const visits = 200;
const boundUs = 10;

export const retentionSettings = { SIMPLANE_ROLE: 'api' };

/**
 * CPU time in PostgreSQL to delete an old event with its part of the feed, out of ten million of 100 accounts. Also: the same rows in a
 * partition that is dropped, the vacuum afterwards, other tables, and a visit with nothing to do with 20,000 accounts. The sweep runs
 * in this process, because a worker's comes once a minute.
 */
export async function retention(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const { databaseUrl } = deployment;
  await storeOldRows(databaseUrl, { events, others, accounts, progress });
  const db = openDatabase({ connectionString: databaseUrl, poolSize: 2, onError: () => {} });
  const rules = rulesOf({ retentionMs: 30 * 86_400_000, usageMaxAgeMs: 35 * 86_400_000 });
  const measured = { pid: process.pid, databaseUrl };

  /** Sweeps one table. A worker does nothing for as long as each range took; the rate includes that. */
  async function sweepTable(table: string, rows: number): Promise<Cost & { perSecond: number }> {
    progress(`sweeping ${rows.toLocaleString('en')} rows of ${table}`);
    const startedAtMs = performance.now();
    const cost = await costOf(measured, rows, async () => {
      const clock = { nowMs: () => Date.now() };
      const removed = await sweep(
        db,
        clock,
        rules.filter((rule) => rule.table === table),
      );
      if (removed !== rows) throw new Error(`${removed} of ${rows} rows of ${table} were removed`);
    });
    return { ...cost, perSecond: (rows * 1_000) / (performance.now() - startedAtMs) };
  }

  try {
    const drop = await measureDrop(databaseUrl, progress);
    const event = await sweepTable('events', events);
    progress('vacuuming');
    const vacuum = await costOf(measured, events, () => runSql(databaseUrl, 'vacuum events, event_feed'));
    const delivery = await sweepTable('deliveries', others);
    const record = await sweepTable('usage_records', others);
    await sweep(db, { nowMs: () => Date.now() }, rules);
    progress('visiting with nothing to do');
    const idle = await costOf(measured, visits, async () => {
      for (let i = 0; i < visits; i++) await sweep(db, { nowMs: () => Date.now() }, rules);
    });
    return {
      value: round(event.postgres_us),
      unit: 'µs in PostgreSQL',
      ceiling: boundUs,
      ratio: round(event.postgres_us / boundUs),
      goal: '≤ 1',
      rounds: 1,
      details: {
        node_us: round(event.node_us),
        wal_bytes: round(event.wal_bytes),
        events_per_second: Math.round(event.perSecond),
        vacuum_us: round(vacuum.postgres_us),
        vacuum_wal_bytes: round(vacuum.wal_bytes),
        partition_drop_ms: round(drop.ms),
        partition_drop_wal_bytes: drop.walBytes,
        delivery_us: round(delivery.postgres_us),
        delivery_wal_bytes: round(delivery.wal_bytes),
        usage_record_us: round(record.postgres_us),
        usage_record_wal_bytes: round(record.wal_bytes),
        idle_visit_us: round(idle.postgres_us),
      },
    };
  } finally {
    await db.end();
  }
}

/** What deleting costs at least: the same events as a partition, without indexes. */
async function measureDrop(databaseUrl: string, progress: (text: string) => void) {
  progress('copying the events into a partition');
  await runSql(
    databaseUrl,
    `create table partitioned_events (like events) partition by range (id);
     create table old_events partition of partitioned_events default;
     insert into old_events select * from events`,
  );
  await runSql(databaseUrl, 'checkpoint');
  const readWal = async () => {
    const [row] = await runSql<{ bytes: string }>(
      databaseUrl,
      `select pg_current_wal_lsn() - '0/0' as bytes`,
    );
    return Number(row?.bytes);
  };
  const before = await readWal();
  const startedAtMs = performance.now();
  await runSql(databaseUrl, 'drop table old_events');
  const ms = performance.now() - startedAtMs;
  const walBytes = (await readWal()) - before;
  await runSql(databaseUrl, 'drop table partitioned_events; checkpoint');
  return { ms, walBytes };
}
