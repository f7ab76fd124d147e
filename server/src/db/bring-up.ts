import type { Connection } from './connect.ts';
import { migrate } from './migrate.ts';
import { ensureRoleSettings } from './role-settings.ts';

/** Makes the database what this release works on: its schema and, behind a pooler, the role's settings. */
export async function bringUp(
  { db, connectionString, isPooled }: Pick<Connection, 'db' | 'connectionString' | 'isPooled'>,
  onNotice: (says: string) => void,
): Promise<{ applied: string[] }> {
  const { applied } = await migrate(connectionString, { onWait: onNotice });
  if (isPooled) await storeRoleSettings(db, onNotice);
  return { applied };
}

async function storeRoleSettings(db: Connection['db'], onNotice: (says: string) => void): Promise<void> {
  const stored = await ensureRoleSettings(db).catch((error: Error) => {
    onNotice(`the role’s settings could not be stored (${error.message}); \`doctor\` says which are missing`);
    return [];
  });
  if (stored.length > 0) {
    onNotice(
      `stored ${stored.join(', ')} with the role for this database; the pooler’s open connections get them when they are renewed (PgBouncer: RECONNECT)`,
    );
  }
}
