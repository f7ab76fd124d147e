import { expect, test } from 'vitest';
import { defaultNotificationMap, parseNotificationMap } from './notification-map.ts';

test('a map of notification points has each point once, with a known state', () => {
  expect(parseNotificationMap(defaultNotificationMap)?.size).toBe(4);
  expect(parseNotificationMap(' 3 = downloaded , 5=deleted')).toEqual(
    new Map([
      [3, 'downloaded'],
      [5, 'deleted'],
    ]),
  );
  for (const wrong of [
    '',
    '3',
    '3=gone',
    '3=downloaded,3=installed',
    '3=downloaded;4=installed',
    'x3=deleted',
    '1234567=deleted',
    '3=Deleted',
  ])
    expect(parseNotificationMap(wrong), wrong).toBeUndefined();
});
