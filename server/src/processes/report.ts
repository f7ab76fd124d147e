/** What only one process knows, and stores with its heartbeat for the others. */
export type ProcessReport = {
  /** The ranges it takes ICCIDs from. `first` has no check digit. */
  iccid_ranges: readonly { first: string; size: number }[];
};

/** Heartbeats are written every few seconds, so they have a bound. */
export const maxRanges = 500;
