import { bucketOf, unknownBucket } from '../../platform/telemetry/histogram.ts';
import type { CountedEsim, Milestone } from './sql/counting.ts';
import { type Stage, stages } from './stages.ts';

/** An event about the progress of an eSIM. `code` is empty if the stage was reached. */
export type Sighting = { accountUuid: string; iccid: string; stage: Stage; code: string; at: Date };

type Reached = { accountUuid: string; orderedAt: Date; stage: Stage; code: string; bucket: number };

/**
 * What the events add, in their order. Each eSIM counts once per stage. A stage implies those before it, because networks may not
 * report all of them; the time of an implied one is not known. Failures count every time.
 */
export function progressOf(
  sightings: readonly Sighting[],
  esims: readonly CountedEsim[],
): { milestones: Milestone[]; reached: Reached[] } {
  const known = new Map(esims.map((esim) => [`${esim.accountUuid} ${esim.iccid}`, stateOf(esim)]));
  const milestones: Milestone[] = [];
  const reached: Reached[] = [];
  for (const { accountUuid, iccid, stage, code, at } of sightings) {
    const esim = known.get(`${accountUuid} ${iccid}`);
    if (!esim) continue;
    const { uuid: esimUuid, orderedAt, times } = esim;
    if (code !== '') {
      reached.push({ accountUuid, orderedAt, stage, code, bucket: unknownBucket });
      continue;
    }
    for (const one of stages.slice(1, stages.indexOf(stage) + 1)) {
      if (times.has(one)) continue;
      const reachedAt = one === stage ? at : null;
      const previous = times.get(stages[stages.indexOf(one) - 1] as Stage);
      const isTimed = reachedAt !== null && previous !== null && previous !== undefined;
      const bucket = isTimed ? bucketOf(reachedAt.getTime() - previous.getTime()) : unknownBucket;
      times.set(one, reachedAt);
      milestones.push({ accountUuid, esimUuid, stage: one, reachedAt });
      reached.push({ accountUuid, orderedAt, stage: one, code, bucket });
    }
  }
  return { milestones, reached };
}

function stateOf({ uuid, createdAt, provisionedAt, milestones }: CountedEsim) {
  const times = new Map<string, Date | null>([['provisioned', provisionedAt]]);
  for (const { stage, at } of milestones) times.set(stage, at === null ? null : new Date(at));
  return { uuid, orderedAt: createdAt, times };
}
