/** `make` with a memory for what it was asked for lately; the oldest is forgotten first, so that it stays small. */
export function remember<Value>(make: (text: string) => Value, most = 1_000): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = make(text);
    if (known.size >= most) known.delete(known.keys().next().value as string);
    known.set(text, value);
    return value;
  };
}
