/** Whether an event type is one of these names, or of a family such as `esim.*`. Null: all types. */
export function matchTypes(types: readonly string[] | null): (type: string) => boolean {
  if (types === null) return () => true;
  const names = new Set(types.filter((type) => !type.endsWith('.*')));
  const prefixes = types.filter((type) => type.endsWith('.*')).map((type) => type.slice(0, -1));
  return (type) => names.has(type) || prefixes.some((prefix) => type.startsWith(prefix));
}
