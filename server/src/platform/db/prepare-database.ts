import type { Connection } from './connect.ts';
import { migrate } from './migrate.ts';
import { ensureRoleSettings } from './role-settings.ts';

/** Migrates the schema and, behind a pooler, stores the role's settings. */
export async function prepareDatabase(
  { db, connectionString, isPooled }: Pick<Connection, 'db' | 'connectionString' | 'isPooled'>,
  onNotice: (says: string) => void,
): Promise<{ applied: string[] }> {
  const { applied } = await migrate(connectionString, { onWait: onNotice });
  if (isPooled) await storeRoleSettings(db, onNotice);
  return { applied };
}

async function storeRoleSettings(db: Connection['db'], onNotice: (says: string) => void): Promise<void> {
  const stored = await ensureRoleSettings(db).catch((error: Error) => {
    onNotice(`could not store the role’s settings (${error.message}); \`doctor\` lists the missing ones`);
    return [];
  });
  if (stored.length > 0) {
    onNotice(
      `stored ${stored.join(', ')} with the role for this database; the pooler’s open connections use them after a reconnect (PgBouncer: RECONNECT)`,
    );
  }
}
