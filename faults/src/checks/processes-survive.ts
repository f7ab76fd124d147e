import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** No process ends but by being killed or asked to; and asked, it ends with 0. */
export function processesSurvive({ oddEndings }: History): Violation[] {
  return oddEndings.map(({ process, how, lastWords }) => ({
    about: [process],
    what: `${process} ended: ${how}. It said last:\n${lastWords}`,
  }));
}
