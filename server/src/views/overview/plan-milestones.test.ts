import { expect, test } from 'vitest';
import { bucketOf, unknownBucket } from '../../platform/telemetry/histogram.ts';
import { progressOf, type Sighting } from './plan-milestones.ts';
import type { CountedEsim } from './sql/counting.ts';
import type { Stage } from './stages.ts';

const orderedAt = new Date(0);
const iccid = '8999901000000000018';

const esimOf = (accountUuid: string, milestones: CountedEsim['milestones'] = []): CountedEsim => ({
  ...{ accountUuid, iccid, uuid: `the eSIM of ${accountUuid}`, createdAt: orderedAt },
  ...{ provisionedAt: new Date(1_000), milestones },
});

const seen = (accountUuid: string, stage: Stage, atMs: number, code = ''): Sighting => ({
  ...{ accountUuid, iccid, stage, code, at: new Date(atMs) },
});

const summary = ({ reached }: ReturnType<typeof progressOf>) =>
  reached.map(({ accountUuid, stage, code, bucket }) => [accountUuid, stage, code, bucket]);

test('a stage counts once, with the time since the one before, however often it is told', () => {
  const progress = progressOf(
    [seen('a', 'downloaded', 3_000), seen('a', 'installed', 7_000), seen('a', 'downloaded', 9_000)],
    [esimOf('a')],
  );
  expect(summary(progress)).toEqual([
    ['a', 'downloaded', '', bucketOf(2_000)],
    ['a', 'installed', '', bucketOf(4_000)],
  ]);
  expect(progress.milestones).toEqual([
    { accountUuid: 'a', esimUuid: 'the eSIM of a', stage: 'downloaded', reachedAt: new Date(3_000) },
    { accountUuid: 'a', esimUuid: 'the eSIM of a', stage: 'installed', reachedAt: new Date(7_000) },
  ]);
});

test('a stage implies those before it, whose time is not known, and so neither is its own', () => {
  const progress = progressOf([seen('a', 'active', 5_000)], [esimOf('a')]);
  expect(summary(progress)).toEqual([
    ['a', 'downloaded', '', unknownBucket],
    ['a', 'installed', '', unknownBucket],
    ['a', 'active', '', unknownBucket],
  ]);
  expect(progress.milestones.map(({ reachedAt }) => reachedAt)).toEqual([null, null, new Date(5_000)]);
});

test('what an earlier pass has counted does not count again, and the next stage is timed from it', () => {
  const known = [{ stage: 'downloaded', at: new Date(2_000).toISOString() }];
  const progress = progressOf(
    [seen('a', 'downloaded', 9_000), seen('a', 'installed', 10_000)],
    [esimOf('a', known)],
  );
  expect(summary(progress)).toEqual([['a', 'installed', '', bucketOf(8_000)]]);
});

test('an event is about the eSIM of its own account only, whatever ICCID it names', () => {
  const sightings = [seen('b', 'installed', 2_000), seen('a', 'downloaded', 3_000)];
  expect(summary(progressOf(sightings, [esimOf('a')]))).toEqual([['a', 'downloaded', '', bucketOf(2_000)]]);
});

test('a failure counts every time, and is no stage', () => {
  const failed = seen('a', 'downloaded', 2_000, 'download_expired');
  const progress = progressOf([failed, failed, seen('a', 'downloaded', 4_000)], [esimOf('a')]);
  expect(summary(progress)).toEqual([
    ['a', 'downloaded', 'download_expired', unknownBucket],
    ['a', 'downloaded', 'download_expired', unknownBucket],
    ['a', 'downloaded', '', bucketOf(3_000)],
  ]);
});

test('a stage that was implied earlier counts no more, and leaves the time of the next one unknown', () => {
  const esim = esimOf('a', [{ stage: 'downloaded', at: null }]);
  const progress = progressOf([seen('a', 'downloaded', 3_000), seen('a', 'installed', 7_000)], [esim]);
  expect(summary(progress)).toEqual([['a', 'installed', '', unknownBucket]]);
});
