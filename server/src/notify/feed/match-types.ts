import type { TypeFilter } from './sql.ts';

/** Null: all types. */
export function typeFilterOf(types: readonly string[] | null): TypeFilter | null {
  if (types === null) return null;
  return {
    names: types.filter((type) => !type.endsWith('.*')),
    prefixes: types.filter((type) => type.endsWith('.*')).map((type) => type.slice(0, -1)),
  };
}

/** Whether an event type is one of these names, or of a family such as `esim.*`. Null: all types. */
export function matchTypes(types: readonly string[] | null): (type: string) => boolean {
  const filter = typeFilterOf(types);
  if (filter === null) return () => true;
  const names = new Set(filter.names);
  return (type) => names.has(type) || filter.prefixes.some((prefix) => type.startsWith(prefix));
}
