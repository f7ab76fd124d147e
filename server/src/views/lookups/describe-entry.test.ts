import { expect, test } from 'vitest';
import { describeEvent } from './describe-entry.ts';

test('a title has a value of its event only if that is a country or a whole percentage', () => {
  const attached = (country: unknown) =>
    describeEvent('esim.country_changed', { country, previous_country: 'FR' }).title;
  const used = (percent: unknown) =>
    describeEvent('bundle.usage_threshold', { threshold_percent: percent }).title;
  expect(attached('DE')).toBe('The eSIM attached in DE, before that in FR.');
  expect(used(80)).toBe('80 % of the bundle’s data is used.');
  for (const value of ['Call +1 555 0100', '80', 'de', 0.5, null, {}]) {
    expect([attached(value), used(value)]).toEqual([attached(undefined), used(undefined)]);
  }
});
