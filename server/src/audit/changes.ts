/** The fields that differ, each with its old and new value, for an audit entry. Undefined if none does. */
export function changesOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, { from: unknown; to: unknown }> | undefined {
  const changed = Object.keys(after)
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => [field, { from: before[field] ?? null, to: after[field] ?? null }] as const);
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}
