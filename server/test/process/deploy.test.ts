import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DockerfileParser } from 'dockerfile-ast';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/read-config.ts';
import { settings } from '../../src/config/settings.ts';
import { isInOneOf, requireCidr } from '../../src/platform/addresses/in-networks.ts';
import {
  type Container,
  environmentOf,
  imageEnvironment,
  type Resource,
  readManifest,
  templatesIn,
  validate,
} from '../support/manifests.ts';
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
    'deploy/kubernetes/cells.yaml',
    'docs/operations.md',
    'docs/cells.md',
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
  const resources = () => readManifest('simplane.yaml');

  test('is valid against the Kubernetes schemas', async () => {
    for (const resource of await resources()) {
      await expect(validate(resource), resource.metadata.name).resolves.toBeUndefined();
      const broken = { ...resource, metadata: 'none' } as unknown as Resource;
      await expect(validate(broken), 'the check can fail').rejects.toThrow();
    }
  });

  test('gives every container valid live settings', async () => {
    const all = await resources();
    for (const { spec } of deploymentsIn(all)) {
      const { config, warnings } = readConfig(environmentOf(spec.containers[0], all));
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
      const { config } = readConfig(environmentOf(spec.containers[0], all));
      expect(config.trustedProxies.length).toBeGreaterThan(0);
      for (const network of config.trustedProxies)
        expect(isInOneOf(inside, network.split('/')[0]), network).toBe(true);
    }
  });

  test('accepts notifications only from certificates that it names', async () => {
    const all = await resources();
    const [api] = deploymentsIn(all);
    const { config } = readConfig(environmentOf(api?.spec.containers[0], all));
    expect(config.es2ListenSubjects?.length).toBeGreaterThan(0);
  });

  test('gives the ES2+ client key only to workers', async () => {
    const all = await resources();
    const [api, worker] = deploymentsIn(all).map(({ spec }) => ({
      secrets: spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      settings: Object.keys(environmentOf(spec.containers[0], all)),
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
    const templates = templatesIn(all);
    expect(templates.map(({ metadata }) => metadata.labels)).toMatchObject([
      { 'app.kubernetes.io/component': 'api' },
      { 'app.kubernetes.io/component': 'worker' },
    ]);
    return templates;
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
