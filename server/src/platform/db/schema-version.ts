import { readdirSync } from 'node:fs';

export const migrationsFolder = new URL('../../../migrations/', import.meta.url);

/** The migrations in a folder, in the order they run. */
export function listMigrations(folder: URL): { version: number; name: string }[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), name }));
}

/** The newest migration that this release knows. */
const schemaVersion = listMigrations(migrationsFolder).at(-1)?.version ?? 0;

/** The connection's name in `pg_stat_activity`, from which `migrate` reads the schema version a process supports. */
export function applicationName(
  purpose?: 'signals' | 'readers' | 'migrate' | 'check',
  version = schemaVersion,
): string {
  return `simplane/${version}${purpose ? ` ${purpose}` : ''}`;
}
