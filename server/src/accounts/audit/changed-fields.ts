type Change = { from: unknown; to: unknown };

/** The fields that differ, each with its old and its new value; null for a field that one side does not have. */
export function changedFields<Fields extends object>(before: Fields, after: Fields): Record<string, Change> {
  const changes: Record<string, Change> = {};
  for (const name of Object.keys(after) as (keyof Fields & string)[]) {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    if (JSON.stringify(from) !== JSON.stringify(to)) changes[name] = { from, to };
  }
  return changes;
}
