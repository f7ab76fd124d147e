import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** No process takes an endpoint's lease while another one holds it. */
export function endpointsHaveOneSender({ stolenLeases }: History): Violation[] {
  return stolenLeases.map((id) => ({
    about: [id],
    what: 'a process took the lease of an endpoint before the holder’s had ended',
  }));
}
