import type { Config } from '../config/settings.ts';
import type { Connection } from '../platform/db/connect.ts';
import { readHostStates, receivesNotifications } from '../platform/db/examine-server.ts';
import { missingRoleSettings } from '../platform/db/prepare-database.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Checks each server if `DATABASE_URL` names several. Connecting reports the case that none of them accepts writes. */
export async function examineHosts({ databaseUrl }: Config): Promise<Finding[]> {
  const hosts = databaseUrl ? await readHostStates(databaseUrl) : [];
  if (hosts.length < 2) return [];
  return hosts.map((host) => {
    if ('unreachable' in host) return warning('host', `${host.label} cannot be reached: ${host.unreachable}`);
    const readOnly = host.isReadOnly ? 'read-only' : 'accepts writes';
    return ok('host', `${host.label}: ${host.isStandby ? 'standby' : readOnly}, PostgreSQL ${host.version}`);
  });
}

/** Checks for a pooler and how processes are notified of each other's work. */
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
      'work from other processes is found by polling, up to two seconds late; set SIMPLANE_DATABASE_DIRECT_URL to be notified at once',
    ),
  ];
}

async function examinePooledRole(db: Connection['db']): Promise<Finding> {
  const missing = await missingRoleSettings(db);
  return missing.length === 0
    ? ok('pooler', 'supports prepared statements; the role has the required settings for this database')
    : warning('pooler', `the role lacks ${missing.join(', ')} for this database; \`migrate\` sets them`);
}

async function examineDirect(url: string, db: Connection['db']): Promise<Finding> {
  try {
    return (await receivesNotifications(url, db))
      ? ok('signals', 'SIMPLANE_DATABASE_DIRECT_URL receives notifications')
      : problem(
          'signals',
          'SIMPLANE_DATABASE_DIRECT_URL receives no notifications: it is not the database of DATABASE_URL, or it goes through a pooler',
        );
  } catch (error) {
    return problem('signals', `cannot connect to SIMPLANE_DATABASE_DIRECT_URL: ${(error as Error).message}`);
  }
}
