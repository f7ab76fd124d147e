import type { Config } from '../config.ts';
import { readHosts } from '../db/host-facts.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Each server of a `DATABASE_URL` that names several. That none takes writes is found by connecting. */
export async function examineHosts({ databaseUrl }: Config): Promise<Finding[]> {
  const hosts = databaseUrl ? await readHosts(databaseUrl) : [];
  if (hosts.length < 2) return [];
  return hosts.map((host) => {
    if ('unreachable' in host) return warning('host', `${host.label} cannot be reached: ${host.unreachable}`);
    const readOnly = host.isReadOnly ? 'read-only' : 'takes writes';
    return ok('host', `${host.label}: ${host.isStandby ? 'standby' : readOnly}, PostgreSQL ${host.version}`);
  });
}
