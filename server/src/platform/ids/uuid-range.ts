export const lowestUuid = '00000000-0000-0000-0000-000000000000';

/** The lowest id of a millisecond: ids start with their time, so a range of times is a range of ids. */
export function lowestUuidAt(unixMs: number): string {
  return startOf(unixMs) + lowestUuid.slice(13);
}

/** The highest id of a millisecond. */
export function highestUuidAt(unixMs: number): string {
  return `${startOf(unixMs)}-ffff-ffff-ffffffffffff`;
}

/** The millisecond that an id starts with. Takes it with or without dashes. */
export function unixMsOf(uuid: string): number {
  return Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
}

/** The first 48 bits of a UUIDv7, shared by all ids of that millisecond. */
function startOf(unixMs: number): string {
  const hex = Math.max(0, unixMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
