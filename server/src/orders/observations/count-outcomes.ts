import type { UsageOutcome } from '@simplane/contract';

/** How many records were counted, had been before, and were refused. */
export function countOutcomes(outcomes: readonly UsageOutcome[]) {
  const accepted = outcomes.filter((outcome) => outcome === 'accepted').length;
  const duplicates = outcomes.filter((outcome) => outcome === 'duplicate').length;
  return { accepted, duplicates, rejected: outcomes.length - accepted - duplicates };
}
