import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { oddProducts, products, topUps } from '../clients/operations.ts';
import { startCore } from '../deployment/core.ts';
import { type Deployment, settings } from '../deployment/deployment.ts';
import { startNetwork } from '../deployment/network.ts';
import type { Postgres } from '../deployment/postgres.ts';
import { runOperatorCommand, thisRelease } from '../deployment/processes.ts';
import { startReceivers } from '../deployment/receivers.ts';
import { watchLeases } from '../deployment/run-triggers.ts';
import type { History } from '../history/history.ts';
import { createRandom } from '../random.ts';
import { type Cell, createServerOf, freePort, prepareCell } from './cell.ts';
import { documentedSections, type Router, startRouter } from './router.ts';

export type TwoCells = {
  cells: readonly [Cell, Cell];
  router: Router;
  /** The accounts that have eSIMs, and where they are; their keys are the first of the deployment. */
  customers: { id: string; home: Cell }[];
  /** The places of the keys that report usage: one of each cell. */
  reporters: readonly [number, number];
  /** As the customers and the checks see it: one address, one network, and the rows of both databases. */
  deployment: Deployment;
};

const database = 'simplane';
const defaults =
  'defaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n\n';

/** Starts two live cells that know each other, behind a router, with one network, core and receivers for both. */
export async function startTwoCells(history: History, seed: number, sql: string): Promise<TwoCells> {
  const routerPort = await freePort();
  const network = await startNetwork(history, createRandom(seed, 'network'));
  const core = await startCore(history, createRandom(seed, 'core'));
  const folder = await mkdtemp(join(tmpdir(), 'simplane-cells-'));
  // Live deployments deliver to https only.
  const receivers = await startReceivers(history, seed, await createCertificate(folder));
  const [ownOfFirst, ownOfEu] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'));
  const shared = {
    ...settings,
    ...{ SIMPLANE_MODE: 'live', SIMPLANE_RATE_LIMIT: '0', SIMPLANE_TRUSTED_PROXIES: '127.0.0.1/32' },
    ...{ SIMPLANE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') },
    SIMPLANE_PUBLIC_URL: `http://127.0.0.1:${routerPort}`,
    FAULTS_NETWORK_URL: network.url,
    ...{ SIMPLANE_CORE_URL: core.url, SIMPLANE_CORE_SECRET: randomBytes(16).toString('hex') },
  };
  const cells = (await Promise.all([
    prepareCell('first', null, {
      ...{ ...shared, SIMPLANE_ICCID_RANGES: '8999906' },
      SIMPLANE_ENCRYPTION_KEYS: `${ownOfFirst},${ownOfEu}`,
    }),
    prepareCell('eu', 'eu', {
      ...{ ...shared, SIMPLANE_ICCID_RANGES: '8999907' },
      SIMPLANE_ENCRYPTION_KEYS: `${ownOfEu},${ownOfFirst}`,
    }),
  ])) as [Cell, Cell];
  for (const cell of cells) await importCatalog(cell, folder);
  for (const { postgres } of cells) await postgres.query(database, `${watchLeases}; ${sql}`);
  const accounts = await createAccounts(cells);
  const processes = cells.map((cell) => createServerOf(cell, cells, history));
  await Promise.all(processes.map((server) => server.start()));
  const ports = Object.fromEntries(cells.map(({ name, port }) => [name, port]));
  const router = await startRouter(defaults + (await documentedSections()), 'eu eu\n', ports, routerPort);
  const deployment: Deployment = {
    ...{ database, operatorKey: '', isLive: true, firstRelease: thisRelease, network, core, receivers },
    keys: accounts.map(({ key }) => key),
    processes,
    apis: [{ name: 'router', url: () => router.url }],
    links: new Map(cells.map(({ name, link }) => [name, link])),
    postgres: bothDatabases(cells),
    async resyncCore() {
      for (const { env } of cells) await runOperatorCommand(thisRelease, ['core', 'resync'], env);
    },
    async stop() {
      await Promise.all(processes.map((server) => server.end()));
      await Promise.all([router.stop(), network.stop(), core.stop(), receivers.stop()]);
      await Promise.all(cells.map(({ link }) => link.close()));
      await Promise.all(cells.map(({ postgres }) => postgres.remove()));
      await rm(folder, { recursive: true });
    },
  };
  const customers = accounts.slice(0, 2).map(({ id, home }) => ({ id, home }));
  return { cells, router, customers, reporters: [2, 3], deployment };
}

/** A customer in each cell, and in each an account whose key reports usage. */
async function createAccounts(cells: readonly Cell[]): Promise<{ id: string; key: string; home: Cell }[]> {
  const accounts: { id: string; key: string; home: Cell }[] = [];
  for (const scopes of ['read,write,admin', 'read,network,admin'])
    for (const home of cells) {
      const { id } = await home.command<{ id: string }>(
        'accounts',
        'create',
        '--name',
        `${scopes} ${home.name}`,
      );
      const args = ['--account', id, '--scopes', scopes];
      const { key } = await home.command<{ key: string }>('keys', 'create', ...args);
      accounts.push({ id, key, home });
    }
  return accounts;
}

async function importCatalog({ env }: Cell, folder: string): Promise<void> {
  const plan = { countries: ['FR', 'IT', 'US', 'JP', 'TH'], data_bytes: 1_000_000_000, validity_days: 30 };
  const price = { amount: 500, currency: 'eur' };
  const given = [...products, ...topUps, ...oddProducts].map((id) => {
    const rest = { speeds: ['4G'], active: true, listed: true };
    return { id, name: id, ...plan, price, ...rest };
  });
  await writeFile(join(folder, 'catalog.json'), JSON.stringify(given));
  await runOperatorCommand(thisRelease, ['catalog', 'import', join(folder, 'catalog.json')], env);
}

async function createCertificate(folder: string): Promise<{ key: string; cert: string }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  const names = ['-subj', '/CN=receivers', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  await promisify(execFile)('openssl', ['req', '-x509', ...args, ...names]);
  return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
}

/** What a run reads without an API, it reads in both. */
function bothDatabases(cells: readonly Cell[]): Postgres {
  const ofOneCell = () => {
    throw new Error('this is done to one cell');
  };
  return {
    async query<Row extends object>(name: string, text: string, values?: unknown[]) {
      const rows = await Promise.all(cells.map(({ postgres }) => postgres.query<Row>(name, text, values)));
      return rows.flat();
    },
    ...{ createDatabase: ofOneCell, link: ofOneCell, start: ofOneCell, stop: ofOneCell },
    ...{ remove: ofOneCell, pair: ofOneCell },
  };
}
