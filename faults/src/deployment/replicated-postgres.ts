import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../until.ts';
import { copyCluster } from './copy-cluster.ts';
import { createServer, type PostgresServer, type StopMode } from './postgres-server.ts';

/**
 * A primary and a synchronous standby: a commit is acknowledged when both have it on disk. Use it for one thing at a time;
 * operations must not overlap.
 */
export type ReplicatedPostgres = {
  /** Both, in an order that stays the same whoever is the primary. */
  servers: [PostgresServer, PostgresServer];
  primary(): PostgresServer;
  standby(): PostgresServer;
  /** The one that a switchover has left running, read-only, until `rejoin`. */
  formerPrimary(): PostgresServer | null;
  /** Stops the primary; `kill` is what a failover begins with. */
  stopPrimary(mode: StopMode): Promise<void>;
  /** The same primary again, with its standby, when nothing was promoted meanwhile. */
  startPrimary(): Promise<void>;
  /** From now on commits wait until `startStandby`. */
  stopStandby(mode?: StopMode): Promise<void>;
  startStandby(): Promise<void>;
  /** The standby stays up and gets nothing more, and commits no longer wait for it: what a failover loses without sync. */
  stopReplication(): Promise<void>;
  /** The standby becomes the primary. It acknowledges alone until `rejoin` has given it a standby. */
  promote(): Promise<void>;
  /**
   * As `promote`, but the old primary stays up with all its connections and refuses writes with 25006. Commits that were
   * already under way there wait for a standby that never comes, so they are never acknowledged.
   */
  switchOver(): Promise<void>;
  /** Builds a new standby in place of the old primary, which ends if it still runs, and waits until it is synchronous. */
  rejoin(): Promise<void>;
  remove(): Promise<void>;
};

const replication = {
  wal_level: 'replica',
  max_wal_senders: '10',
  hot_standby: 'on',
  // Instead of a slot: enough for a standby that is built or away for a minute.
  wal_keep_size: '1GB',
};
const boundMs = 60_000;

export async function startReplicatedPostgres(
  settings: Record<string, string> = {},
): Promise<ReplicatedPostgres> {
  const all = { ...replication, ...settings };
  const servers = await Promise.all([createServer(all), createServer(all)]);
  let [primary, standby] = servers;
  let former: PostgresServer | null = null;

  async function setting(server: PostgresServer, name: string, value: string): Promise<void> {
    await server.query('postgres', `alter system set ${name} = '${value.replaceAll("'", "''")}'`);
    await server.query('postgres', 'select pg_reload_conf()');
  }

  async function waitFor(what: string, isMet: () => Promise<boolean>): Promise<void> {
    if (!(await until(isMet, boundMs, 20)))
      throw new Error(`PostgreSQL: ${what} did not happen within ${boundMs} ms`);
  }

  async function isTrue(server: PostgresServer, condition: string): Promise<boolean> {
    const [row] = await server.query<{ met: boolean }>('postgres', `select (${condition}) as met`);
    return row?.met === true;
  }

  async function buildStandby(): Promise<void> {
    await standby.stop('immediate');
    await rm(join(standby.dataDir, 'postgres'), { recursive: true, force: true });
    await copyCluster({
      primaryUrl: primary.url('postgres'),
      source: join(primary.dataDir, 'postgres'),
      target: join(standby.dataDir, 'postgres'),
      settings: { primary_conninfo: conninfoOf(primary) },
    });
    // The copy has the primary's roles, and so its password.
    await copyFile(join(primary.dataDir, 'database-password'), join(standby.dataDir, 'database-password'));
    await standby.start();
    await requireStandby();
  }

  async function requireStandby(): Promise<void> {
    const [now] = await primary.query<{ lsn: string }>(
      'postgres',
      'select pg_current_wal_flush_lsn() as lsn',
    );
    const position = now?.lsn ?? '0/0';
    await setting(primary, 'synchronous_standby_names', '*');
    // Caught up as well: what a restarted primary shows may not be on the standby yet.
    await waitFor('synchronous replication', () =>
      isTrue(
        primary,
        `exists (select from pg_stat_replication where sync_state = 'sync' and flush_lsn >= '${position}')`,
      ),
    );
  }

  async function promote(): Promise<void> {
    await standby.query('postgres', 'select pg_promote(true, 60)');
    await waitFor('the promotion', () => isTrue(standby, 'not pg_is_in_recovery()'));
    [primary, standby] = [standby, primary];
  }

  try {
    await primary.start();
    await buildStandby();
  } catch (error) {
    await Promise.all([primary.remove(), standby.remove()]);
    throw error;
  }

  return {
    servers,
    primary: () => primary,
    standby: () => standby,
    formerPrimary: () => former,
    stopPrimary: (mode) => primary.stop(mode),
    async startPrimary() {
      await primary.start();
      // Its socket is elsewhere after every start.
      await setting(standby, 'primary_conninfo', conninfoOf(primary));
      await requireStandby();
    },
    stopStandby: (mode = 'immediate') => standby.stop(mode),
    async startStandby() {
      await standby.start();
      await setting(standby, 'primary_conninfo', conninfoOf(primary));
      await requireStandby();
    },
    async stopReplication() {
      await setting(primary, 'synchronous_standby_names', '');
      await setting(standby, 'primary_conninfo', '');
      await waitFor('the end of replication', () =>
        isTrue(primary, 'not exists (select from pg_stat_replication)'),
      );
    },
    promote,
    async switchOver() {
      // Before the promotion: nothing that begins on the old primary from now on can write.
      await setting(primary, 'default_transaction_read_only', 'on');
      await promote();
      former = standby;
    },
    async rejoin() {
      former = null;
      await buildStandby();
    },
    async remove() {
      await Promise.all([standby.stop('immediate'), primary.stop('fast')]);
      await Promise.all([primary.remove(), standby.remove()]);
    },
  };
}

/** In libpq's form, for a server on the same machine. */
function conninfoOf(server: PostgresServer): string {
  const { username, password, searchParams } = new URL(server.url('postgres'));
  const parts = {
    host: searchParams.get('host') ?? '',
    port: '5432',
    user: username,
    password: decodeURIComponent(password),
  };
  return Object.entries(parts)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
