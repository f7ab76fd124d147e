import { randomBytes } from 'node:crypto';
import type { History } from '../history/history.ts';
import { createRandom } from '../random.ts';
import { type RecordingCore, startCore } from './core.ts';
import type { Link } from './link.ts';
import { type RecordingNetwork, startNetwork } from './network.ts';
import type { Postgres } from './postgres.ts';
import {
  createProcess,
  type Release,
  runOperatorCommand,
  type ServerProcess,
  thisRelease,
} from './processes.ts';
import { type Receivers, startReceivers } from './receivers.ts';

export type Deployment = {
  database: string;
  /** An API key for each account. */
  keys: string[];
  operatorKey: string;
  /** Neither test events nor the sandbox's operations are there. */
  isLive: boolean;
  /** The release that its processes started with. */
  firstRelease: Release;
  processes: ServerProcess[];
  /** Where clients send their requests. */
  apis: Pick<ServerProcess, 'name' | 'url'>[];
  /** Each process's own link to PostgreSQL, by process name. */
  links: Map<string, Link>;
  postgres: Postgres;
  network: RecordingNetwork;
  core: RecordingCore;
  /** Sends the core every state again, as its operator does after a restore. */
  resyncCore(): Promise<void>;
  receivers: Receivers;
  /** Stops every process with SIGTERM. */
  stop(): Promise<void>;
};

type Options = {
  seed: number;
  /** A database from `prepareDatabase`, used by this run only. */
  database: string;
  keys: string[];
  /** Names of processes: `api-1`, `worker-1`, `all-1`. */
  processes: string[];
  /** Whether the network forgets calls. */
  forgetsCalls: boolean;
  /** Modules that every process loads first. */
  preloads: string[];
  release: Release;
};

/** Short, so takeovers, retries and disabling happen soon; in the same order as the defaults. */
export const settings = {
  SIMPLANE_LOG_LEVEL: 'warn',
  SIMPLANE_MOCK_DELAY: '0s',
  SIMPLANE_NETWORK_TIMEOUT: '1s',
  SIMPLANE_EXECUTION_LEASE: '1500ms',
  SIMPLANE_EXECUTION_RETRY_SCHEDULE: '50ms,100ms,200ms,400ms,800ms,1s,1s,1s,1s,1s,1s,1s',
  SIMPLANE_WEBHOOK_TIMEOUT: '1s',
  SIMPLANE_WEBHOOK_RETRY_SCHEDULE: '100ms,200ms,400ms,800ms,1s,1s',
  SIMPLANE_WEBHOOK_DISABLE_AFTER: '4s',
  SIMPLANE_WEBHOOK_DISABLE_MIN_FAILURES: '8',
  SIMPLANE_SHUTDOWN_TIMEOUT: '5s',
};

/** Creates a database with two accounts and returns their API keys. */
export async function prepareDatabase(
  postgres: Postgres,
  database: string,
  release = thisRelease,
): Promise<string[]> {
  await postgres.createDatabase(database);
  const link = await postgres.link(database);
  const env = { DATABASE_URL: link.url };
  const keys: string[] = [];
  for (const name of ['One', 'Two']) {
    const [account] = await runOperatorCommand<{ id: string }[]>(
      release,
      ['accounts', 'create', '--name', name],
      env,
    );
    const [created] = await runOperatorCommand<{ key: string }[]>(
      release,
      ['keys', 'create', '--account', account?.id ?? '', '--scopes', 'read,write,network,admin'],
      env,
    );
    keys.push(created?.key ?? '');
  }
  await link.close();
  return keys;
}

async function createOperatorKey(postgres: Postgres, database: string, release: Release): Promise<string> {
  const link = await postgres.link(database);
  const env = { DATABASE_URL: link.url };
  const [created] = await runOperatorCommand<{ key: string }[]>(
    release,
    ['keys', 'create', '--scopes', 'operator'],
    env,
  );
  await link.close();
  return created?.key ?? '';
}

/** Starts the server processes, the network and the customers' webhook receivers. */
export async function startDeployment(
  postgres: Postgres,
  history: History,
  options: Options,
): Promise<Deployment> {
  const { seed, database, keys, preloads, forgetsCalls, release } = options;
  const network = await startNetwork(history, createRandom(seed, 'network'));
  const core = await startCore(history, createRandom(seed, 'core'));
  const receivers = await startReceivers(history, seed);
  const links = new Map<string, Link>();
  const env = {
    ...settings,
    SIMPLANE_API_KEY: 'sp_test_faults_operator_key',
    SIMPLANE_ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    FAULTS_NETWORK_URL: network.url,
    SIMPLANE_CORE_URL: core.url,
    SIMPLANE_CORE_SECRET: randomBytes(16).toString('hex'),
    ...(forgetsCalls && { FAULTS_NETWORK_FORGETS: '1' }),
  };

  const operatorKey = forgetsCalls ? await createOperatorKey(postgres, database, release) : '';
  const processes: ServerProcess[] = [];
  for (const name of options.processes) {
    const link = await postgres.link(database);
    links.set(name, link);
    processes.push(
      createProcess(history, { name, env: { ...env, DATABASE_URL: link.url }, preloads, release }),
    );
  }

  async function resyncCore(): Promise<void> {
    const link = await postgres.link(database);
    await runOperatorCommand(thisRelease, ['core', 'resync'], { ...env, DATABASE_URL: link.url });
    await link.close();
  }

  async function stop(): Promise<void> {
    await Promise.all(processes.map((server) => server.end()));
    await Promise.all([
      network.stop(),
      core.stop(),
      receivers.stop(),
      ...[...links.values()].map((link) => link.close()),
    ]);
  }

  try {
    await Promise.all(processes.map((server) => server.start()));
  } catch (error) {
    await Promise.all(processes.map((server) => server.kill()));
    await stop();
    throw error;
  }
  return {
    ...{ database, keys, operatorKey, isLive: false, firstRelease: release },
    apis: processes.filter(({ role }) => role !== 'worker'),
    ...{ processes, links, postgres, network, core, resyncCore, receivers, stop },
  };
}
