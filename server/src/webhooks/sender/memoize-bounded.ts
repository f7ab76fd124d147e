/** Remembers the last results of `make`, by its argument. Bounded: the oldest entry goes first. */
export function memoizeBounded<Value>(make: (text: string) => Value, limit = 1_000): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = make(text);
    if (known.size >= limit) known.delete(known.keys().next().value as string);
    known.set(text, value);
    return value;
  };
}
