import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { Observation } from '../network/port.ts';
import { observeAttach } from './observe-attach.ts';
import { observeProfile } from './observe-profile.ts';
import { observeUsage } from './observe-usage.ts';
import { type EsimRow, lockEsim } from './sql.ts';

/**
 * Takes in what a network tells of an eSIM, whichever driver it comes from; the eSIM as it then stands, or null when it
 * is not ours. Safe to repeat and in any order. An eSIM that has ended takes in nothing.
 */
export async function observe(
  tx: Queryable,
  observation: Observation,
  means: { clock: Clock; newUuid: NewUuid },
): Promise<EsimRow | null> {
  const esim = await lockEsim(tx, observation.iccid);
  if (!esim || esim.status === 'terminated' || esim.status === 'failed') return esim;
  switch (observation.kind) {
    case 'profile':
      return observeProfile(tx, esim, observation, means);
    case 'attach':
      return observeAttach(tx, esim, observation, means);
    case 'usage':
      return observeUsage(tx, esim, observation, means);
  }
}
