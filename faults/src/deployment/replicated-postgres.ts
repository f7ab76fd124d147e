import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../until.ts';
import { copyCluster } from './copy-cluster.ts';
import { createServer, type PostgresServer, type StopMode } from './postgres-server.ts';

/**
 * A primary and a synchronous standby: a commit is acknowledged when both have it on disk. Calls must not overlap.
 */
export type ReplicatedPostgres = {
  /** Both servers, in a fixed order whichever is the primary. */
  servers: [PostgresServer, PostgresServer];
  primary(): PostgresServer;
  standby(): PostgresServer;
  /** The old primary, which a switchover leaves running read-only until `rejoin`. */
  formerPrimary(): PostgresServer | null;
  /** Stops the primary; a failover starts with `kill`. */
  stopPrimary(mode: StopMode): Promise<void>;
  /** Restarts the same primary with its standby, if nothing was promoted meanwhile. */
  startPrimary(): Promise<void>;
  /** Commits then wait until `startStandby`. */
  stopStandby(mode?: StopMode): Promise<void>;
  startStandby(): Promise<void>;
  /** Stops replication to the running standby, and commits no longer wait for it; a failover then loses data. */
  stopReplication(): Promise<void>;
  /** Promotes the standby. It commits without a standby until `rejoin`. */
  promote(): Promise<void>;
  /**
   * Like `promote`, but the old primary stays up with all its connections and refuses writes with 25006. Commits already
   * in progress there wait for the lost standby, so they are never acknowledged.
   */
  switchOver(): Promise<void>;
  /** Stops the old primary, rebuilds it as a standby, and waits until replication is synchronous. */
  rejoin(): Promise<void>;
  remove(): Promise<void>;
};

const replication = {
  wal_level: 'replica',
  max_wal_senders: '10',
  hot_standby: 'on',
  // Instead of a replication slot: enough for a standby that is being built or down for a minute.
  wal_keep_size: '1GB',
};
const timeoutMs = 60_000;

export async function startReplicatedPostgres(
  settings: Record<string, string> = {},
): Promise<ReplicatedPostgres> {
  const all = { ...replication, ...settings };
  const servers = await Promise.all([createServer(all), createServer(all)]);
  let [primary, standby] = servers;
  let former: PostgresServer | null = null;

  async function alterSystem(server: PostgresServer, name: string, value: string): Promise<void> {
    await server.query('postgres', `alter system set ${name} = '${value.replaceAll("'", "''")}'`);
    await server.query('postgres', 'select pg_reload_conf()');
  }

  async function waitFor(what: string, isMet: () => Promise<boolean>): Promise<void> {
    if (!(await until(isMet, timeoutMs, 20)))
      throw new Error(`PostgreSQL: ${what} did not happen within ${timeoutMs} ms`);
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
    // The copy has the primary's roles and therefore its password.
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
    await alterSystem(primary, 'synchronous_standby_names', '*');
    // Also wait until it caught up: a restarted primary may show data the standby does not have yet.
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
      // The socket path changes at every start.
      await alterSystem(standby, 'primary_conninfo', conninfoOf(primary));
      await requireStandby();
    },
    stopStandby: (mode = 'immediate') => standby.stop(mode),
    async startStandby() {
      await standby.start();
      await alterSystem(standby, 'primary_conninfo', conninfoOf(primary));
      await requireStandby();
    },
    async stopReplication() {
      await alterSystem(primary, 'synchronous_standby_names', '');
      await alterSystem(standby, 'primary_conninfo', '');
      await waitFor('the end of replication', () =>
        isTrue(primary, 'not exists (select from pg_stat_replication)'),
      );
    },
    promote,
    async switchOver() {
      // Before the promotion, so no transaction that begins on the old primary from now on can write.
      await alterSystem(primary, 'default_transaction_read_only', 'on');
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

/** libpq connection string for a server on the same machine. */
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
