import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../faults/src/cells/cell.ts';
import { documentedSections, type Router, startRouter } from '../../../faults/src/cells/router.ts';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { createAuthority, createFolder } from '../support/certificates.ts';
import { call } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { environmentOf, type Resource, readManifest, templatesIn, validate } from '../support/manifests.ts';
import { runCommand, spawnServer } from '../support/process.ts';
import { exchange, head } from '../support/raw-http.ts';

const [ofEach, ofCells] = await Promise.all(['simplane.yaml', 'cells.yaml'].map(readManifest));

/** What a namespace has when both files were applied as cells.yaml says. */
function inNamespace(namespace: string): Resource[] {
  return [...(ofEach ?? []), ...(ofCells ?? []).filter(({ metadata }) => metadata.namespace === namespace)];
}

function named(kind: string, name: string): Resource {
  return ofCells?.find((one) => one.kind === kind && one.metadata.name === name) as Resource;
}

const { 'haproxy.cfg': configuration = '', 'cells.map': cellsMap = '' } =
  named('ConfigMap', 'simplane-router').data ?? {};

type Cell = { backend: string; namespace: string; label: string | null; resources: Resource[] };

/** Those that the router knows. */
const cells: Cell[] = [
  ...configuration.matchAll(/^ +server (\S+) simplane-api\.(\S+)\.svc\.cluster\.local:80$/gm),
].map(([, backend = '', namespace = '']) => {
  const resources = inNamespace(namespace);
  const [api] = templatesIn(resources);
  const label = environmentOf(api?.spec.containers[0], resources)['SIMPLANE_CELL'] ?? null;
  return { backend, namespace, label, resources };
});

describe('the manifests of cells', () => {
  test('are valid against the Kubernetes schemas', async () => {
    for (const resource of ofCells ?? [])
      await expect(validate(resource), resource.metadata.name).resolves.toBeUndefined();
  });

  test('have the router of docs/cells.md, but for addresses', async () => {
    const withoutAddresses = (text: string) =>
      text.replace(/bind :\d+/, 'bind').replace(/^( +server \S+) .*/gm, '$1');
    const sections = configuration.slice(configuration.indexOf('frontend simplane'));
    expect(withoutAddresses(sections)).toBe(withoutAddresses(await documentedSections()));
  });

  test('lead each label to the service of the cell that has it, and everything else to the one without', () => {
    expect(cells.map(({ backend, label }) => [backend, label])).toEqual([
      ['first', null],
      ['eu', 'eu'],
    ]);
    expect(cellsMap).toBe('eu eu\n');
    const service = ofEach?.find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name === 'simplane-api',
    );
    expect(service?.spec).toMatchObject({ ports: [{ port: 80, targetPort: 'http' }] });
    const namespaces = cells.map(({ namespace }) => namespace);
    for (const namespace of namespaces) expect(named('Namespace', namespace)).toBeDefined();
    expect(JSON.stringify(named('NetworkPolicy', 'simplane-router'))).toContain(
      `"values":${JSON.stringify(namespaces)}`,
    );
  });

  test('give all processes of a cell its label, and live settings that are the same in both otherwise', () => {
    const environments = cells.map(({ label, resources }) =>
      templatesIn(resources).map(({ spec }) => {
        const environment = environmentOf(spec.containers[0], resources);
        const { config, warnings } = readConfig(environment);
        expect([config.mode, config.cell, warnings]).toEqual(['live', label, []]);
        const { SIMPLANE_CELL: _label, ...others } = environment;
        return others;
      }),
    );
    expect(environments[0]).toHaveLength(2);
    expect(environments[1]).toEqual(environments[0]);
  });

  test('mount every file that the router reads, from the file itself or from what its comments create', async () => {
    const [template] = templatesIn(ofCells ?? []);
    expect(template?.spec.containers[0]?.args).toEqual(['haproxy', '-f', '/etc/haproxy/haproxy.cfg']);
    const read = new Set([...configuration.matchAll(/\/etc\/haproxy\/([\w.]+)/g)].map(([, file]) => file));
    expect([...read].sort()).toEqual(['cells.map', 'moved.map', 'sims.example.pem']);
    const text = await readFile(new URL('../../../deploy/kubernetes/cells.yaml', import.meta.url), 'utf8');
    expect(text).toMatch(/secret generic simplane-router .*--from-file=sims\.example\.pem\n/);
    expect(text).toMatch(/configmap simplane-moved .*--from-literal=moved\.map=\n/);
    expect(template?.spec.volumes).toMatchObject([
      {
        projected: {
          sources: [
            { configMap: { name: 'simplane-router' } },
            { configMap: { name: 'simplane-moved' } },
            { secret: { name: 'simplane-router' } },
          ],
        },
      },
    ]);
  });
});

describe('cells that run with the settings of the manifests', () => {
  type Running = Cell & {
    env: Record<string, string>;
    port: number;
    url: string;
    key: string;
    account: string;
    stop(): Promise<void>;
  };
  let first: Running;
  let eu: Running;
  const files = createFolder();
  beforeAll(async () => {
    const authority = createAuthority('Test authority');
    const { cert, key } = authority.issue({ name: 'listener' });
    const paths = {
      '/es2/listener.pem': files.write('listener.pem', cert),
      '/es2/listener.key': files.write('listener.key', key),
      '/es2/smdp-client-ca.pem': files.write('smdp-client-ca.pem', authority.pem),
    };
    [first, eu] = (await Promise.all(cells.map((cell) => run(cell, paths)))) as [Running, Running];
  });
  afterAll(async () => {
    await Promise.all([first?.stop(), eu?.stop()]);
    files.remove();
  });

  /** The process that serves the API, on this machine: with other addresses, and files where they are. */
  async function run(cell: Cell, paths: Record<string, string>): Promise<Running> {
    const database = await cloneDatabase();
    const [api] = templatesIn(cell.resources);
    const port = await freePort();
    const given = environmentOf(api?.spec.containers[0], cell.resources);
    const env: Record<string, string> = {
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, paths[value] ?? value])),
      ...{
        HOST: '127.0.0.1',
        PORT: String(port),
        SIMPLANE_METRICS_HOST: '127.0.0.1',
        SIMPLANE_METRICS_PORT: '0',
      },
      ...{ SIMPLANE_ES2_LISTEN_HOST: '127.0.0.1', SIMPLANE_ES2_LISTEN_PORT: '0' },
      DATABASE_URL: database.url,
    };
    const server = await spawnServer(env);
    const created = await runCommand(['accounts', 'create', '--name', cell.backend, '--json'], env);
    const account: string = JSON.parse(created.stdout)[0].id;
    const made = await runCommand(['keys', 'create', '--account', account, '--json'], env);
    return {
      ...{ ...cell, env, port, account, key: JSON.parse(made.stdout)[0].key },
      url: `http://127.0.0.1:${port}`,
      async stop() {
        await server.end('SIGTERM');
        await database.drop();
      },
    };
  }

  const me = (url: string, key: string) => call({ url, key }, 'GET', '/v1/me');

  test('hand out keys with their labels, and name the cell of a key that is not theirs', async () => {
    expect([first.key, eu.key]).toEqual([
      expect.stringMatching(/^sp_live_[0-9A-Za-z]{38}$/),
      expect.stringMatching(/^sp_live_eu_[0-9A-Za-z]{38}$/),
    ]);
    for (const { url, key, account } of [first, eu])
      expect((await me(url, key)).json).toMatchObject({ account: { id: account } });
    const wrong = await me(first.url, eu.key);
    expect([wrong.status, wrong.json.error.cell]).toEqual([421, 'eu']);
  });

  test('are found without a problem by doctor, which names the cell', async () => {
    type Finding = { check: string; verdict: string; says: string };
    const { stdout } = await runCommand(['doctor', '--json'], eu.env);
    const findings: Finding[] = JSON.parse(stdout);
    const settings = findings.find(({ check }) => check === 'settings');
    expect(settings?.says).toBe('mode live, role api, cell eu, DATABASE_URL');
    // The tests' PostgreSQL does not wait for its disk.
    const problems = findings.filter(({ check, verdict }) => verdict === 'problem' && check !== 'durability');
    expect(problems).toEqual([]);
  });

  const installed = ['haproxy'].filter((name) => spawnSync(name, ['-v']).status === 0);

  describe.each(installed)('behind %s with the configuration of the manifest', (haproxy) => {
    let router: Router;
    beforeAll(async () => {
      router = await startRouter(configuration, cellsMap, { first: first.port, eu: eu.port });
    });
    afterAll(() => router?.stop());

    /** Where a request came that names a cell which does not exist, or another than the one it was led to. */
    const cellIn = ({ json }: { json: { error: { message: string } } }) =>
      /and this is the cell (.*?)\. Send/.exec(json.error.message)?.[1];

    /** As browsers send it, which know the router by its name. */
    const ask = (path: string, headers: Record<string, string> = {}) =>
      exchange(router.url, head('GET', path, { Host: 'api.example.com', ...headers }));

    test('answer at one address, each to its own keys', async () => {
      for (const { key, account } of [first, eu])
        expect((await me(router.url, key)).json).toMatchObject({ account: { id: account } });
      const unknown = await me(router.url, generateApiKey('live', 'us'));
      expect([unknown.status, cellIn(unknown)]).toEqual([421, 'without a label']);
    });

    test('are found by the label of a session and of an install link, and of what a page signs in with', async () => {
      const token = 'A'.repeat(43);
      const session = (label: string) => ({ Cookie: `__Host-simplane_session=${label}.${token}` });
      // Where it is, it has ended; elsewhere it belongs to another cell.
      expect((await ask('/dashboard/api/v1/me', session('eu'))).status).toBe(401);
      expect((await ask('/dashboard/api/v1/me', session('us'))).status).toBe(421);
      expect((await ask(`/i/eu.${token}`)).status).toBe(404);
      expect((await ask(`/i/us.${token}`)).status).toBe(421);
      const other = await ask('/dashboard/api/v1/me', { ...session('us'), 'Service-Cell': 'eu' });
      expect(cellIn(other)).toBe('"eu"');
    });

    test('are not needed to be named for what all have', async () => {
      for (const path of ['/livez', '/dashboard'])
        expect([path, (await ask(path)).status]).toEqual([path, 200]);
    });

    test('are found by the key of an account that was moved, whatever its label', async () => {
      await router.learn(`${createHash('sha256').update(eu.key).digest('hex')} first\n`);
      const moved = await me(router.url, eu.key);
      expect([moved.status, cellIn(moved)]).toEqual([421, 'without a label']);
    });

    test('need not exist for the router to start, whose certificate is where the manifest puts it', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'simplane-router-'));
      const { cert, key } = createAuthority('Test authority').issue({ name: 'sims.example' });
      const content = {
        'haproxy.cfg': configuration.replaceAll('/etc/haproxy', folder),
        'cells.map': cellsMap,
      };
      for (const [name, text] of Object.entries({
        ...content,
        'moved.map': '',
        'sims.example.pem': cert + key,
      }))
        await writeFile(join(folder, name), text);
      const check = promisify(execFile)(haproxy, ['-c', '-f', join(folder, 'haproxy.cfg')]);
      expect((await check).stdout).toContain('Configuration file is valid');
      await rm(folder, { recursive: true });
    });
  });
});
