import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

/** The cost of one item: microseconds of CPU, bytes of write-ahead log, and transactions. */
export type Cost = { node_us: number; postgres_us: number; wal_bytes: number; transactions: number };

export function mapCost(cost: Cost, map: (value: number, figure: keyof Cost) => number): Cost {
  const mapped = { ...cost };
  for (const figure of Object.keys(cost) as (keyof Cost)[]) mapped[figure] = map(cost[figure], figure);
  return mapped;
}

// Linux counts CPU time in hundredths of a second on every platform we run on.
const tickUs = 10_000;

/** Measures the cost of `run` in the server process and all of PostgreSQL, divided by the number of items. */
export async function costOf(
  { pid, databaseUrl }: { pid: number; databaseUrl: string },
  items: number,
  run: () => Promise<unknown>,
): Promise<Cost> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  try {
    const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
    const postmaster = (await readStat(rows[0]?.pid as number)).parent;
    const read = async () => ({
      node: (await readStat(pid)).ownUs,
      postgres: await cpuOfTreeUs(postmaster),
      ...(await readWritten(db)),
    });
    const before = await read();
    await run();
    const after = await read();
    return {
      node_us: (after.node - before.node) / items,
      postgres_us: (after.postgres - before.postgres) / items,
      wal_bytes: (after.wal - before.wal) / items,
      transactions: (after.transactions - before.transactions) / items,
    };
  } finally {
    await db.end();
  }
}

async function readWritten(db: pg.Client): Promise<{ wal: number; transactions: number }> {
  const { rows } = await db.query<{ wal: string; transactions: string }>(
    `select pg_current_wal_lsn() - '0/0' as wal, xact_commit as transactions
     from pg_stat_database
     where datname = current_database()`,
  );
  return { wal: Number(rows[0]?.wal), transactions: Number(rows[0]?.transactions) };
}

/** The postmaster, its child processes, and the children that have exited. */
async function cpuOfTreeUs(postmaster: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map((pid) => readStat(pid).catch(() => null)));
  const live = stats.filter((stat) => stat?.parent === postmaster).map((stat) => stat?.ownUs ?? 0);
  const { ownUs, endedChildrenUs } = await readStat(postmaster);
  return live.reduce((sum, us) => sum + us, ownUs + endedChildrenUs);
}

async function readStat(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The program's name, in parentheses, may contain any character; numeric fields follow (proc_pid_stat(5), from the 3rd on).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (field: number) => Number(fields[field - 3]);
  return {
    parent: ticks(4),
    ownUs: (ticks(14) + ticks(15)) * tickUs,
    endedChildrenUs: (ticks(16) + ticks(17)) * tickUs,
  };
}
