import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DockerfileParser } from 'dockerfile-ast';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config/read-config.ts';
import { settings } from '../../src/config/settings.ts';
import { isInOneOf, requireCidr } from '../../src/platform/addresses/in-networks.ts';
import { spawnServer } from '../support/process.ts';

const root = new URL('../../../', import.meta.url);

function read(path: string): Promise<string> {
  return readFile(new URL(path, root), 'utf8');
}

/** The settings a file names; a misspelled one would silently have no effect. */
function settingsNamedIn(text: string): string[] {
  return [...new Set(text.match(/\b(SIMPLANE_[A-Z_0-9]+|DATABASE_URL)\b/g))];
}

test('every setting named in the deployment files exists', async () => {
  const known = Object.values(settings).map(({ name }) => name);
  for (const path of [
    'Dockerfile',
    'compose.yaml',
    'deploy/kubernetes/simplane.yaml',
    'docs/operations.md',
  ]) {
    expect(known, path).toEqual(expect.arrayContaining(settingsNamedIn(await read(path))));
  }
});

describe('the image', () => {
  test('pins its base images by digest', async () => {
    const bases = DockerfileParser.parse(await read('Dockerfile'))
      .getFROMs()
      .map((from) => [from.getImageName(), from.getImageDigest()]);
    expect(bases.length).toBeGreaterThan(1);
    for (const [name, digest] of bases) expect(digest, name ?? '').toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('has all that the server needs', async () => {
    const copied = DockerfileParser.parse(await read('Dockerfile'))
      .getCOPYs()
      .map((copy) => copy.getArguments().map((argument) => argument.getValue()))
      .filter(([from]) => from?.startsWith('/app/'));
    const image = await mkdtemp(join(tmpdir(), 'simplane-image-'));
    await chmod(image, 0o755); // its PostgreSQL runs as another user
    for (const [from = '', to = ''] of copied)
      await cp(new URL(from.slice('/app/'.length), root), join(image, to), { recursive: true });
    const server = await spawnServer(
      { SIMPLANE_DATA_DIR: join(image, 'data') },
      { file: join(image, 'server/bin/simplane-server.js') },
    );
    for (const path of ['/readyz', '/dashboard', '/docs', '/openapi.json'])
      expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
    await server.end('SIGTERM');
    await rm(image, { recursive: true });
  });
});

test('the compose file starts each process after the database is healthy, with its role and DATABASE_URL', async () => {
  const { services } = parse(await read('compose.yaml'), { merge: true });
  expect(Object.keys(services).sort()).toEqual(['api', 'postgres', 'worker']);
  for (const role of ['api', 'worker']) {
    expect(services[role]).toMatchObject({
      environment: { SIMPLANE_ROLE: role, DATABASE_URL: expect.stringContaining('@postgres:') },
      depends_on: { postgres: { condition: 'service_healthy' } },
    });
  }
});

describe('the Kubernetes manifest', () => {
  type Resource = {
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    spec: Record<string, never>;
  };

  type Container = {
    name: string;
    envFrom: { configMapRef: { name: string } }[];
    env: { name: string; value?: string }[];
    ports: { name: string; containerPort: number }[];
  };
  type Pod = { containers: Container[]; volumes: { secret?: { secretName: string } }[] };
  const imageEnvironment = { HOST: '0.0.0.0', PORT: '4000', SIMPLANE_DATA_DIR: '/data' };
  const secrets: Record<string, string> = {
    DATABASE_URL: 'postgresql://example.com/simplane',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
  };

  function templateOf({ spec }: Resource) {
    type Template = { metadata: { labels: object; annotations: Record<string, string> }; spec: Pod };
    return (spec as unknown as { template: Template }).template;
  }

  async function resources(): Promise<Resource[]> {
    return parseAllDocuments(await read('deploy/kubernetes/simplane.yaml')).map((one) => one.toJS());
  }

  test('is valid against the Kubernetes schemas', async () => {
    for (const resource of await resources()) {
      const path = `kubernetes-models/${resource.apiVersion}/${resource.kind}`;
      const models = await import(/* @vite-ignore */ path);
      expect(() => new models[resource.kind](resource).validate(), resource.metadata.name).not.toThrow();
      const broken = { ...resource, metadata: 'none' };
      expect(() => new models[resource.kind](broken).validate(), 'the check can fail').toThrow();
    }
  });

  test('gives every container valid live settings', async () => {
    const all = await resources();
    for (const { spec } of deploymentsIn(all)) {
      const [container] = spec.containers;
      const { config, warnings } = readConfig(environmentOf(container as Container, all));
      expect([config.mode, warnings]).toEqual(['live', []]);
    }
  });

  test('has Prometheus scrape the port that the metrics listen on', async () => {
    const all = await resources();
    for (const { metadata, spec } of deploymentsIn(all)) {
      const container = spec.containers[0] as Container;
      const { config } = readConfig(environmentOf(container, all));
      const { containerPort } = container.ports.find(({ name }) => name === 'metrics') ?? {};
      expect([config.metricsHost, config.metricsPort]).toEqual(['0.0.0.0', containerPort]);
      expect(metadata.annotations).toMatchObject({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': String(config.metricsPort),
      });
    }
  });

  test('trusts the ingress to say where a request comes from, and nobody outside the cluster', async () => {
    const all = await resources();
    const inside = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map(requireCidr);
    for (const { spec } of deploymentsIn(all)) {
      const { config } = readConfig(environmentOf(spec.containers[0] as Container, all));
      expect(config.trustedProxies.length).toBeGreaterThan(0);
      for (const network of config.trustedProxies)
        expect(isInOneOf(inside, network.split('/')[0]), network).toBe(true);
    }
  });

  test('accepts notifications only from certificates that it names', async () => {
    const all = await resources();
    const [api] = deploymentsIn(all);
    const { config } = readConfig(environmentOf(api?.spec.containers[0] as Container, all));
    expect(config.es2ListenSubjects?.length).toBeGreaterThan(0);
  });

  test('gives the ES2+ client key only to workers', async () => {
    const all = await resources();
    const [api, worker] = deploymentsIn(all).map(({ spec }) => ({
      secrets: spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      settings: Object.keys(environmentOf(spec.containers[0] as Container, all)),
    }));
    expect(worker?.secrets).toContain('simplane-es2-client');
    expect(worker?.settings).toContain('SIMPLANE_ES2_KEY');
    expect(api?.secrets).toEqual(['simplane-es2-listener']);
    expect(api?.settings).not.toContain('SIMPLANE_ES2_KEY');
  });

  test('restricts ingress and egress of every pod, on ports the pod has', async () => {
    type Rule = { ports?: { port: string | number }[] };
    type Policy = {
      podSelector: { matchLabels: object };
      policyTypes: string[];
      ingress: Rule[];
      egress: Rule[];
    };
    const all = await resources();
    const policies = all
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .map(({ spec }) => spec as unknown as Policy);
    for (const { metadata, spec } of deploymentsIn(all)) {
      const policy = policies.find(({ podSelector }) =>
        isDeepStrictEqual(podSelector.matchLabels, metadata.labels),
      );
      expect(policy?.policyTypes).toEqual(['Ingress', 'Egress']);
      const named = spec.containers.flatMap(({ ports }) => ports.map(({ name }) => name));
      for (const { ports = [] } of policy?.ingress ?? []) {
        for (const { port } of ports) expect(named).toContain(port);
      }
    }
  });

  function deploymentsIn(all: Resource[]) {
    const templates = all.filter(({ kind }) => kind === 'Deployment').map(templateOf);
    expect(templates.map(({ metadata }) => metadata.labels)).toMatchObject([
      { 'app.kubernetes.io/component': 'api' },
      { 'app.kubernetes.io/component': 'worker' },
    ]);
    return templates;
  }

  function environmentOf({ env, envFrom }: Container, all: Resource[]): Record<string, string> {
    const shared = envFrom.map(({ configMapRef }) => {
      const map = all.find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef.name,
      );
      return (map as unknown as { data: Record<string, string> }).data;
    });
    const own = env.map(({ name, value }) => [name, value ?? secrets[name] ?? '']);
    return Object.assign({}, imageEnvironment, ...shared, Object.fromEntries(own));
  }

  test('probes existing paths, on ports the processes listen on', async () => {
    const text = await read('deploy/kubernetes/simplane.yaml');
    expect(new Set([...text.matchAll(/path: (\S+?),/g)].map(([, path]) => path))).toEqual(
      new Set(['/livez', '/readyz']),
    );
    expect(new Set([...text.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port))).toEqual(
      new Set([imageEnvironment.PORT, '9400', '8443']),
    );
  });
});
