import { expect, test } from 'vitest';
import { defaultNotificationMap, parseNotificationMap } from '../notification-map.ts';
import { observationOf } from './notifications.ts';

const now = new Date('2026-11-15T12:00:00Z');
const map = parseNotificationMap(defaultNotificationMap) ?? new Map();

const notified = (eid?: string) =>
  observationOf(
    {
      ...{ iccid: '8999901000000000018', profileType: 'consumer', timestamp: now, notificationPointId: 3 },
      notificationPointStatus: { status: 'Executed-Success' },
      ...(eid !== undefined && { eid }),
    },
    map,
    now,
  );

test('a notification with a mistyped EID counts, and the EID is not stored', () => {
  const eid = '89882119900000000000000000001654';
  expect(notified(eid)).toMatchObject({ state: 'downloaded', eid });
  expect(notified('89882119900000000000000000001655')).toEqual(notified());
  expect(notified()).toMatchObject({ kind: 'profile', state: 'downloaded', at: now });
});
