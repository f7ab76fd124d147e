import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Dockerfile, DockerfileParser } from 'dockerfile-ast';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig, settings } from '../../src/config.ts';

const root = new URL('../../../', import.meta.url);

function read(path: string): Promise<string> {
  return readFile(new URL(path, root), 'utf8');
}

/** Names of ours that a file sets; a misspelt one would be passed over in silence at the user's. */
function settingsNamedIn(text: string): string[] {
  return [...new Set(text.match(/\b(SIMPLANE_[A-Z_0-9]+|DATABASE_URL)\b/g))];
}

test('every setting that the deployment files name exists', async () => {
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
  test('copies only what there is', async () => {
    const dockerfile: Dockerfile = DockerfileParser.parse(await read('Dockerfile'));
    const copied = dockerfile.getCOPYs().flatMap((copy) => {
      const from = copy.getArguments()[0]?.getValue() ?? '';
      return from.startsWith('/app/') ? [from.slice('/app/'.length)] : [];
    });
    expect(copied.length).toBeGreaterThan(5);
    for (const path of copied) expect(existsSync(new URL(path, root)), path).toBe(true);
  });

  test('holds every workspace that the server needs at run time', async () => {
    const dockerfile = await read('Dockerfile');
    const wanted = new Set<string>(['server']);
    for (const name of wanted) {
      const { dependencies = {} } = JSON.parse(await read(`${name}/package.json`));
      for (const dependency of Object.keys(dependencies)) {
        if (dependency.startsWith('@simplane/')) wanted.add(dependency.slice('@simplane/'.length));
      }
    }
    for (const name of wanted) expect(dockerfile).toContain(`/app/${name}/dist`);
  });
});

test('the compose file has a database that is waited for, and processes that are given what they need', async () => {
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

  type Container = { name: string; env: { name: string; value?: string }[] };
  const imageEnvironment = { HOST: '0.0.0.0', PORT: '4000', SIMPLANE_DATA_DIR: '/data' };
  const secrets: Record<string, string> = {
    DATABASE_URL: 'postgresql://example.com/simplane',
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
  };

  function containersOf({ spec }: Resource): Container[] {
    return (spec as unknown as { template: { spec: { containers: Container[] } } }).template.spec.containers;
  }

  async function resources(): Promise<Resource[]> {
    return parseAllDocuments(await read('deploy/kubernetes/simplane.yaml')).map((one) => one.toJS());
  }

  test('is valid by the schemas of Kubernetes', async () => {
    for (const resource of await resources()) {
      const path = `kubernetes-models/${resource.apiVersion}/${resource.kind}`;
      const models = await import(/* @vite-ignore */ path);
      expect(() => new models[resource.kind](resource).validate(), resource.metadata.name).not.toThrow();
      const broken = { ...resource, metadata: 'none' };
      expect(() => new models[resource.kind](broken).validate(), 'the check can fail').toThrow();
    }
  });

  test('gives every container settings that a process starts with', async () => {
    const all = await resources();
    const shared = (all.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: object }).data;
    const containers = all.flatMap((resource) =>
      resource.kind === 'Deployment' ? containersOf(resource) : [],
    );
    expect(containers.map(({ name }) => name)).toEqual(['simplane', 'simplane']);
    for (const { env } of containers) {
      const own = Object.fromEntries(env.map(({ name, value }) => [name, value ?? secrets[name]]));
      const { config, warnings } = readConfig({ ...imageEnvironment, ...shared, ...own });
      expect([config.mode, warnings]).toEqual(['live', []]);
    }
  });

  test('probes paths that there are, on ports that the processes listen on', async () => {
    const text = await read('deploy/kubernetes/simplane.yaml');
    expect(new Set([...text.matchAll(/path: (\S+?),/g)].map(([, path]) => path))).toEqual(
      new Set(['/livez', '/readyz']),
    );
    expect(new Set([...text.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port))).toEqual(
      new Set([imageEnvironment.PORT, '9464', '8443']),
    );
  });
});

test('the alerts watch metrics that are served', async () => {
  const { groups } = parse(await read('deploy/prometheus/alerts.yaml'));
  const { createMetrics } = await import('../../src/metrics.ts');
  const { registry } = createMetrics({ pool: {} } as Parameters<typeof createMetrics>[0]);
  const served = registry.getMetricsAsArray().map(({ name }) => name);
  const rules = groups[0].rules as { alert: string; expr: string }[];
  for (const { alert, expr } of rules) {
    const [name = ''] = expr.match(/\b(http|simplane|db|nodejs|process)_[a-z_0-9]+/) ?? [];
    expect(served, alert).toContain(name.replace(/_(bucket|count|sum)$/, ''));
  }
  const guide = await read('docs/operations.md');
  for (const { alert } of rules) expect(guide).toContain(`\`${alert}\``);
});
