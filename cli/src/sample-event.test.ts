import { expect, test } from 'vitest';
import { sampleDataOf } from './sample-event.ts';

test('the usage of a sample reaches the threshold that it tells, and all of it when it is used up', () => {
  const facts = { data_bytes: 1_001, threshold_percent: 50 };
  expect(sampleDataOf('bundle.usage_threshold', facts)).toMatchObject({ used_bytes: 501 });
  expect(sampleDataOf('bundle.depleted', facts)).toMatchObject({ used_bytes: 1_001 });
});

test('what is given for a sample comes before facts and before what is computed, also beside its usual fields', () => {
  const given = { used_bytes: 7, iccid: '1', note: 'mine' };
  expect(sampleDataOf('bundle.depleted', { iccid: '2', data_bytes: 100 }, given)).toMatchObject({
    ...given,
    data_bytes: 100,
  });
  expect(sampleDataOf('my.event', { iccid: '2' }, given)).toEqual(given);
});
