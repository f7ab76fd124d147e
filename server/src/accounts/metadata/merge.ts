import { maxMetadataEntries } from '@simplane/contract';
import { invalid } from '../../platform/app-error.ts';

/** Merges by name, so two programs can each keep their own entries; null or an empty value removes an entry. */
export function mergeMetadata(
  current: Record<string, string>,
  given: Record<string, string | null> = {},
): Record<string, string> {
  const merged = Object.entries({ ...current, ...given }).filter(
    ([name, value]) => value !== null && (value !== '' || !Object.hasOwn(given, name)),
  );
  if (merged.length <= maxMetadataEntries) return Object.fromEntries(merged) as Record<string, string>;
  throw invalid(
    'metadata',
    `metadata must have at most ${maxMetadataEntries} entries; together with the existing ones there would be ${merged.length}. Send null to remove an entry.`,
  );
}

type Metadata = Record<string, string>;

/** The names of the entries that differ, for an audit entry: values may be anything. */
export function changedNames(before: Metadata, after: Metadata): string[] {
  return Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);
}
