import type { Clock } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { EndpointClaims } from './endpoint-claims.ts';
import type { Lanes } from './lanes.ts';
import type { ReadyEndpoints, Slots, Wake } from './ready-endpoints.ts';

/** What the parts of a sender share. */
export type Parts = {
  db: Database;
  clock: Clock;
  /** Names this sender in the leases. */
  holder: string;
  /** Whether its leases surely last. */
  isFresh(): boolean;
  leaseMs: number;
  slots: Slots;
  lanes: Lanes;
  claims: EndpointClaims;
  ready: ReadyEndpoints;
  wake: Wake;
  onError(error: unknown, about?: object): void;
};
