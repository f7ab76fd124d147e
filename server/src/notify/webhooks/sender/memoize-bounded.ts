/** Caches the results of `compute` by argument. Beyond `limit` entries the oldest is dropped. */
export function memoizeBounded<T>(compute: (text: string) => T, limit = 1_000): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = compute(text);
    if (known.size >= limit) known.delete(known.keys().next().value as string);
    known.set(text, value);
    return value;
  };
}
