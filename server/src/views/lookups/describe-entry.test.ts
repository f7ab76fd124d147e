import { expect, test } from 'vitest';
import type { ExecutionRow } from '../../orders/executions/present.ts';
import { describeEvent, stepsOf } from './describe-entry.ts';

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

test('a test event may have the name of what every object inherits', () => {
  for (const type of ['constructor', 'toString', '__proto__']) {
    expect(describeEvent(type, {})).toEqual({ kind: 'other', title: `A test event of the type ${type}.` });
  }
});

test('a country is told with the one before it, or not at all', () => {
  const attached = (data: object) => describeEvent('esim.country_changed', { country: 'DE', ...data }).title;
  for (const previous of ['fr', null, 'Call +1 555 0100']) {
    expect(attached({ previous_country: previous })).toBe(attached({}));
  }
  expect(attached({})).not.toContain('before that');
});

test('an execution has run once it has an attempt', () => {
  const row = { id: '0190a000-0000-7000-8000-000000000000', status: 'queued', created_at: new Date(9_000) };
  const none = { batch_id: null, waiting_for: null, next_attempt_at: null, retry_of: null, retried_by: null };
  const namesOf = (attempts: number) =>
    stepsOf({ ...row, ...none, attempts } as unknown as ExecutionRow).map(({ name }) => name);
  expect(namesOf(0)).toEqual(['accepted']);
  expect(namesOf(1)).toEqual(['accepted', 'running']);
});
