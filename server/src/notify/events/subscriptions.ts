/** Every subscription that matches this event type: `*`, the type itself and each of its families. */
export function subscriptionsOf(type: string): string[] {
  return ['*', type, ...familiesAbove(type)];
}

/** The types of a filter without what another one contains: `a.*` contains `a.b` and `a.b.*`. Sorted. */
export function distinctTypes(types: readonly string[]): string[] {
  const all = new Set(types);
  return [...all].filter((type) => !familiesAbove(type).some((family) => all.has(family))).sort();
}

/** The families that contain a type or a family, other than itself. */
function familiesAbove(type: string): string[] {
  const parts = type.replace(/\.\*$/, '').split('.');
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`);
}

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
