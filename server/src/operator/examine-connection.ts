import type { Config } from '../config/settings.ts';
import type { Connection } from '../db/connect.ts';
import { hears } from '../db/hears.ts';
import { readHostStates } from '../db/host-states.ts';
import { missingRoleSettings } from '../db/role-settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Each server of a `DATABASE_URL` that names several. That none takes writes is found by connecting. */
export async function examineHosts({ databaseUrl }: Config): Promise<Finding[]> {
  const hosts = databaseUrl ? await readHostStates(databaseUrl) : [];
  if (hosts.length < 2) return [];
  return hosts.map((host) => {
    if ('unreachable' in host) return warning('host', `${host.label} cannot be reached: ${host.unreachable}`);
    const readOnly = host.isReadOnly ? 'read-only' : 'takes writes';
    return ok('host', `${host.label}: ${host.isStandby ? 'standby' : readOnly}, PostgreSQL ${host.version}`);
  });
}

/** What stands between us and the server, and how processes hear of each other's work. */
export async function examineConnection(
  { db, isPooled }: Connection,
  { databaseDirectUrl }: Config,
): Promise<Finding[]> {
  const findings = isPooled ? [await examinePooledRole(db)] : [];
  if (databaseDirectUrl) return [...findings, await examineDirect(databaseDirectUrl, db)];
  if (!isPooled) return findings;
  return [
    ...findings,
    warning(
      'signals',
      'work of other processes is found by polling, up to two seconds late; set SIMPLANE_DATABASE_DIRECT_URL to hear of it at once',
    ),
  ];
}

async function examinePooledRole(db: Connection['db']): Promise<Finding> {
  const missing = await missingRoleSettings(db);
  return missing.length === 0
    ? ok('pooler', 'carries prepared statements; the role has our settings for this database')
    : warning('pooler', `the role lacks ${missing.join(', ')} for this database; \`migrate\` stores them`);
}

async function examineDirect(url: string, db: Connection['db']): Promise<Finding> {
  try {
    return (await hears(url, db))
      ? ok('signals', 'SIMPLANE_DATABASE_DIRECT_URL hears of work at once')
      : problem(
          'signals',
          'SIMPLANE_DATABASE_DIRECT_URL hears nothing: it is not the database of DATABASE_URL, or leads through a pooler',
        );
  } catch (error) {
    return problem('signals', `SIMPLANE_DATABASE_DIRECT_URL cannot be opened: ${(error as Error).message}`);
  }
}
