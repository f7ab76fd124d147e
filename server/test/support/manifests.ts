import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';

export type Resource = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  data?: Record<string, string>;
  spec: Record<string, never>;
};

export type Container = {
  name: string;
  args?: string[];
  envFrom: { configMapRef: { name: string; optional?: boolean } }[];
  env: { name: string; value?: string }[];
  ports: { name: string; containerPort: number }[];
};

type Template = {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  spec: { containers: Container[]; volumes: { secret?: { secretName: string } }[] };
};

const folder = new URL('../../../deploy/kubernetes/', import.meta.url);

export async function readManifest(name: string): Promise<Resource[]> {
  const text = await readFile(new URL(name, folder), 'utf8');
  return parseAllDocuments(text).map((one) => one.toJS());
}

/** Throws if Kubernetes would refuse it. */
export async function validate(resource: Resource): Promise<void> {
  const models = await import(/* @vite-ignore */ `kubernetes-models/${resource.apiVersion}/${resource.kind}`);
  new models[resource.kind](resource).validate();
}

export function templatesIn(all: Resource[]): Template[] {
  return all
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => (spec as unknown as { template: Template }).template);
}

/** What the Dockerfile sets. */
export const imageEnvironment = { HOST: '0.0.0.0', PORT: '4000', SIMPLANE_DATA_DIR: '/data' };

const secrets: Record<string, string> = {
  DATABASE_URL: 'postgresql://example.com/simplane',
  SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
};

/** The settings that a container gets: of what it names, the last wins. */
export function environmentOf(container: Container | undefined, all: Resource[]): Record<string, string> {
  const { env, envFrom } = container as Container;
  const shared = envFrom.map(({ configMapRef: { name, optional = false } }) => {
    const map = all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
    if (!map && !optional) throw new Error(`there is no ConfigMap ${name}`);
    return map?.data ?? {};
  });
  const own = env.map(({ name, value }) => [name, value ?? secrets[name] ?? '']);
  return Object.assign({}, imageEnvironment, ...shared, Object.fromEntries(own));
}
