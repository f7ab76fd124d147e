import { expect, test } from 'vitest';
import { checkKeySettings } from './check-key-settings.ts';

const check = (settings: Parameters<typeof checkKeySettings>[1]) => () =>
  checkKeySettings({ clock: { nowMs: () => 5_000 } }, settings);

test('a key expires in the future, or never', () => {
  for (const expires_at of [6, null]) expect(check({ expires_at })).not.toThrow();
  for (const expires_at of [5, 4]) expect(check({ expires_at })).toThrow('must be in the future');
});

test('networks of a key are refused by their place in the list', () => {
  expect(check({ allowed_cidrs: ['203.0.113.0/24', '2001:db8::/32'] })).not.toThrow();
  expect(check({ allowed_cidrs: ['203.0.113.0/24', '203.0.113.7'] })).toThrow(
    expect.objectContaining({ param: 'allowed_cidrs[1]' }),
  );
});
