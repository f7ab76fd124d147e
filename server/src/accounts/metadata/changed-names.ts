type Metadata = Record<string, string>;

/** The names of the entries that differ, for an audit entry: values may be anything. */
export function changedNames(before: Metadata, after: Metadata): string[] {
  return Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);
}
