import { api, type Mutant } from './mutant.ts';

const embedded = (name: string) => `server/test/embedded/${name}.test.ts`;
const inProcess = (name: string) => `server/test/process/${name}.test.ts`;

/** Mutants of what is closed by default: metrics, the embedded PostgreSQL, the terminal, the port for SM-DP+ notifications. */
export const closedMutants: Mutant[] = [
  {
    name: 'metrics-on-every-address',
    file: 'server/src/http/metrics-app.ts',
    find: 'app.listen({ host, port',
    replace: `app.listen({ host: '0.0.0.0', port`,
    tests: [inProcess('metrics-port')],
    why: 'Metrics listen on loopback unless the operator says otherwise.',
  },
  {
    name: 'taken-default-port-of-metrics-stops-the-start',
    file: 'server/src/http/metrics-app.ts',
    find: 'if (chosenPort !== null) throw',
    replace: 'if (chosenPort !== 0) throw',
    tests: [inProcess('metrics-port')],
    why: 'A second process on a machine starts without any setting.',
  },
  {
    name: 'taken-chosen-port-of-metrics-ignored',
    file: 'server/src/http/metrics-app.ts',
    find: 'if (chosenPort !== null) throw',
    replace: 'if (chosenPort === 0) throw',
    tests: [inProcess('metrics-port')],
    why: 'A process that cannot serve metrics where it was told to does not start.',
  },
  {
    name: 'each-scrape-takes-a-connection',
    file: 'server/src/http/metrics-app.ts',
    find: 'running ??= call()',
    replace: 'running = call()',
    tests: [api('metrics')],
    why: 'Scrapes do not take the pool from the API.',
  },
  {
    name: 'metrics-port-filled-by-silent-connections',
    file: 'server/src/http/metrics-app.ts',
    find: 'limitConnections(app.server, { ...service, maxConnections });',
    replace: 'app.server.maxConnections = maxConnections;\n  void [limitConnections, service];',
    tests: [api('metrics')],
    why: 'A scraper is served while others hold all connections.',
  },
  {
    name: 'manifest-trusts-no-proxy',
    file: 'deploy/kubernetes/simplane.yaml',
    find: 'SIMPLANE_TRUSTED_PROXIES: 10.244.0.0/16',
    replace: 'SIMPLANE_TRUSTED_PROXIES: none',
    tests: [inProcess('deploy')],
    why: 'Behind the ingress, clients are told apart by their addresses.',
  },
  {
    name: 'postgres-runs-as-nobody',
    file: 'server/src/db/embedded/cluster-user.ts',
    find: `(await findUser('simplane')) ?? unusedUser()`,
    replace: `(await findUser('simplane')) ?? (await findUser('nobody')) ?? unusedUser()`,
    tests: [embedded('own-user')],
    why: 'No other process has the uid of the embedded PostgreSQL.',
  },
  {
    name: 'initdb-in-reach-of-nobody',
    file: 'server/src/db/embedded/initialise.ts',
    find: 'if (nobody) return { ...nobody, gid };',
    replace: 'if (nobody) return gid < 0 ? null as never : nobody;',
    tests: [embedded('own-user')],
    why: 'Processes of nobody cannot look into the initdb that creates the cluster.',
  },
  {
    name: 'shelter-open-to-all',
    file: 'server/src/db/embedded/initialise.ts',
    find: 'makeFolder(shelter, 0o710,',
    replace: 'makeFolder(shelter, 0o755,',
    tests: [embedded('own-user')],
    why: 'Processes of nobody cannot write to a cluster that is being created.',
  },
  {
    name: 'cluster-of-nobody-kept',
    file: 'server/src/db/embedded/cluster-location.ts',
    find: '(found.uid !== 0 && found.uid !== nobody?.uid)',
    replace: '(found.uid !== 0 && nobody !== undefined)',
    tests: [embedded('own-user')],
    why: 'A cluster of an earlier release is taken from nobody.',
  },
  {
    name: 'hand-over-follows-links',
    file: 'server/src/db/embedded/cluster-location.ts',
    find: 'if (entry.isDirectory()) await',
    replace: 'if (entry.isDirectory() || entry.isSymbolicLink()) await',
    tests: [embedded('own-user')],
    why: 'Handing over a cluster changes no file outside it.',
  },
  {
    name: 'own-user-admits-its-uid',
    file: 'server/src/db/embedded/access.ts',
    find: '  peer map=simplane',
    replace: '  trust',
    tests: [embedded('own-user')],
    why: 'A postgres with a uid of its own admits only root.',
  },
];
