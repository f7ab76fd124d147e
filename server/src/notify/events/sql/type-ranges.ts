/** Names, and families such as `esim.*`, as ranges of names: the values of two parameters. */
export function typeRanges(types: readonly string[]): [first: string[], last: string[]] {
  const ranges = types.map(rangeOf);
  return [ranges.map(([first]) => first), ranges.map(([, last]) => last)];
}

/** `esim.*` is the range from `esim.` up to `esim/`, since `/` follows the dot. A name is the only one before `name!`. */
function rangeOf(type: string): [string, string] {
  if (!type.endsWith('.*')) return [type, `${type}!`];
  const prefix = type.slice(0, -1);
  return [prefix, `${prefix.slice(0, -1)}/`];
}

/** SQL: whether the row of `events` is in the ranges of two parameters, of which this is the first. */
export function isOfTypes(first: number): string {
  return `exists (
    select from unnest($${first}::text[], $${first + 1}::text[]) as range (first, last)
    where events.type >= range.first and events.type < range.last)`;
}
