import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** A process exits only when killed or stopped, and a stopped process exits with 0. */
export function processesSurvive({ unexpectedExits }: History): Violation[] {
  return unexpectedExits.map(({ process, how, lastOutput }) => ({
    about: [process],
    what: `${process} exited: ${how}. Last output:\n${lastOutput}`,
  }));
}
