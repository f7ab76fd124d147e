import { Observations, type UsageOutcome, type UsageRecord } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import type { Observation } from '../../network/port.ts';
import { answersIn } from '../../platform/cells/asked-cells.ts';
import { isFormOf } from '../../platform/cells/is-form-of.ts';
import { findOwnIccids } from './sql.ts';

const path = '/v1/operator/observations';
const isObservations = isFormOf<Observations>(Observations);

/**
 * What other cells did with records whose eSIMs are not here, by the index of the record. `isSure`: every cell answered, so nobody has
 * the others.
 */
export type PassedOn = { outcomes: ReadonlyMap<number, UsageOutcome>; isSure: boolean };

type UsageDeps = Pick<OperatorContext, 'db' | 'cells' | 'mode'>;

/**
 * Passes usage records on to the cells that have their eSIMs. While no row is locked: two cells that pass on to each other would wait for
 * each other's locks. Records that are passed on twice count once.
 */
export async function passOnUsage(
  { db, cells, mode }: UsageDeps,
  records: readonly UsageRecord[],
): Promise<PassedOn> {
  const nothing = { outcomes: new Map(), isSure: true };
  // In a sandbox a key reaches only its own account.
  if (mode === 'sandbox' || cells.others.length === 0) return nothing;
  const own = new Set(await findOwnIccids(db, [...new Set(records.map(({ iccid }) => iccid))]));
  const foreign = [...records.entries()].filter(([, { iccid }]) => !own.has(iccid));
  if (foreign.length === 0) return nothing;
  const said = await cells.ask<Observations>({
    method: 'POST',
    path,
    body: { usage_records: foreign.map(([, record]) => record) },
    isAnswer: (json, cell): json is Observations =>
      isObservations(json) && json.cell === cell && json.usage_records?.length === foreign.length,
  });
  const answers = answersIn(said);
  const outcomes = new Map<number, UsageOutcome>();
  for (const [place, [index]] of foreign.entries()) {
    const outcome = mostCertain(answers.map(({ answer }) => answer.usage_records?.[place] ?? 'esim_unknown'));
    if (outcome !== 'esim_unknown') outcomes.set(index, outcome);
  }
  return { outcomes, isSure: answers.length === said.length };
}

/** An account that has just been handed over is still leaving in its old cell: what the new one says counts. */
function mostCertain(outcomes: readonly UsageOutcome[]): UsageOutcome {
  const known = outcomes.filter((outcome) => outcome !== 'esim_unknown');
  return known.find((outcome) => outcome !== 'esim_not_ready') ?? known[0] ?? 'esim_unknown';
}

export type ProfileObservation = Extract<Observation, { kind: 'profile' }>;

/** Passes a notification on to the cell that has the eSIM. `esim_not_ready`: none has taken it, and one may have it. */
export async function passOnProfile(
  { cells }: Pick<OperatorContext, 'cells'>,
  observation: ProfileObservation,
): Promise<NonNullable<Observations['profile']>> {
  const { kind: _, at, ...seen } = observation;
  const said = await cells.ask<Observations>({
    method: 'POST',
    path,
    body: { profile: { ...seen, at_ms: at.getTime() } },
    isAnswer: (json, cell): json is Observations =>
      isObservations(json) && json.cell === cell && json.profile !== undefined,
  });
  const answers = answersIn(said).map(({ answer }) => answer.profile);
  if (answers.includes('accepted')) return 'accepted';
  const isSure = answers.length === said.length && !answers.includes('esim_not_ready');
  return isSure ? 'esim_unknown' : 'esim_not_ready';
}
