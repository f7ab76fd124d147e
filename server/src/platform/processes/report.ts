import type { Cell } from '../cell.ts';
import type { Rate, ThroughputName } from '../telemetry/throughput.ts';

/** What only one process knows, and stores with its heartbeat for the others. */
export type ProcessReport = {
  /** Null if it has no label. */
  cell: Cell;
  /** The ids of the keys with which it can read stored secrets. */
  encryption_keys: readonly string[];
  /** The ranges it takes ICCIDs from. `first` has no check digit. */
  iccid_ranges: readonly { first: string; size: number }[];
  /** Of its own certificates, by the setting that names the file. */
  certificates: { setting: string; ends_at: string }[];
  /** What it did in the last minute and hour. */
  throughput: Record<ThroughputName, Rate>;
  /** How far its machine is ahead of PostgreSQL; negative if behind. */
  clock_skew_ms: number;
  /** The systems it calls. */
  networks: NetworkReport[];
};

export type PeerKind = 'smdp' | 'core' | 'mock';

/** What one process knows of a system it calls. Times are ages, so that clocks need not agree. */
export type PeerReport = {
  kind: PeerKind;
  host: string | null;
  /** Null until it was tried. */
  reachable: boolean | null;
  latency_ms: number | null;
  tried_ms_ago: number | null;
  last_error: { message: string; ms_ago: number } | null;
  /** When the peer's own certificate ends. */
  peer_ends_at: string | null;
};

export type NetworkReport = PeerReport & {
  /** Whether it makes no calls for now, because a gateway reported the system as down. */
  paused: boolean;
};

/** Bounds the size of a heartbeat, which is written every few seconds. */
export const maxRanges = 500;
