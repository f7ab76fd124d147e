import { idPrefixes, type OperatorOverview } from '@simplane/contract';
import { idOfUuid } from '../ids/uuid.ts';
import { stateOf } from './clock-skew.ts';
import type { ReportRow } from './sql.ts';

/** The processes whose clock is worth a warning. */
export function clocksOffIn(reports: ReportRow[]): OperatorOverview['clocks_off'] {
  return reports.flatMap(({ id, host, report: { clock_skew_ms } }) =>
    clock_skew_ms === undefined || stateOf(clock_skew_ms) === 'right'
      ? []
      : [{ process_id: idOfUuid(idPrefixes.process, id), host, clock_skew_ms }],
  );
}
