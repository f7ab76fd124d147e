/** Mutants of pure cores that no test can kill or that are not worth a test, by the text that Stryker replaces. */
export type Explained = { file: string; original: string; replacement: string; why: string };

const sameResult = 'Equivalent: the other branch gives the same result, more slowly.';
const unreachable = 'Equivalent: the value is never missing here; the check is for the type.';
const memoryOnly = 'Only memory: an empty entry stays in a map, which no caller can see.';

export const explained: readonly Explained[] = [
  {
    file: 'sdk/src/webhooks.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    why: unreachable,
  },
  {
    file: 'sdk/src/webhooks.ts',
    original: '/^[0-9a-f]{64}$/',
    replacement: '/^[0-9a-f]{64}/',
    why: 'Equivalent: a signature of another length never verifies.',
  },
  {
    file: 'sdk/src/webhooks.ts',
    original: '/^[0-9a-f]{64}$/',
    replacement: '/[0-9a-f]{64}$/',
    why: 'Equivalent: a signature of another length never verifies.',
  },
  {
    file: 'sdk/src/webhooks.ts',
    original: 'false',
    replacement: 'true',
    why: 'The key becomes extractable, but it never leaves the function.',
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: 'crossed.length > 1',
    replacement: 'true',
    why: sameResult,
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: 'crossed.length > 1',
    replacement: 'crossed.length >= 1',
    why: sameResult,
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: 'false',
    replacement: 'true',
    why: 'Equivalent: a level that was reached before and after is not crossed.',
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: '[used_bytes * 100, data_bytes * percent]',
    replacement: '[]',
    why: sameResult,
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: 'Number.isSafeInteger(used) && Number.isSafeInteger(level)',
    replacement: 'false',
    why: sameResult,
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: 'Number.isSafeInteger(used) && Number.isSafeInteger(level)',
    replacement: 'Number.isSafeInteger(used) || Number.isSafeInteger(level)',
    why: 'Equivalent: a number above 2^53 is larger than one below, rounded or not.',
  },
  {
    file: 'server/src/orders/bundles/count-usage.ts',
    original: 'other > at',
    replacement: 'other >= at',
    why: 'Equivalent: either of two equal times is the later one.',
  },
  {
    file: 'server/src/orders/observations/plan-usage.ts',
    original: 'country === record.country',
    replacement: 'false',
    why: 'Equivalent: a copy of the record with the country that it has.',
  },
  {
    file: 'server/src/orders/observations/plan-usage.ts',
    original: 'gained !== 0',
    replacement: 'true',
    why: 'Equivalent: adds nothing to a sum that is within its bounds.',
  },
  {
    file: 'server/src/orders/observations/plan-usage.ts',
    original: 'gainedLate !== 0',
    replacement: 'true',
    why: 'Equivalent: adds nothing to a sum that is within its bounds.',
  },
  {
    file: 'server/src/orders/observations/plan-usage.ts',
    original: 'old.length > 0',
    replacement: 'true',
    why: sameResult,
  },
  {
    file: 'server/src/orders/observations/plan-usage.ts',
    original: 'old.length > 0',
    replacement: 'old.length >= 0',
    why: sameResult,
  },
  {
    file: 'server/src/orders/observations/plan-usage.ts',
    original: 'esim.not_covered_on !== null',
    replacement: 'true',
    why: 'Equivalent: null is not later than a day; the check is for the type.',
  },
  {
    file: 'server/src/orders/esims/profile-state.ts',
    original: 'seen.at > known.at',
    replacement: 'seen.at >= known.at',
    why: 'Equivalent: the line before handles equal times.',
  },
  {
    file: 'server/src/platform/lists/cursor.ts',
    original: `hash('sha256', JSON.stringify(given.sort()), 'base64url').slice(0, 8)`,
    replacement: `hash('sha256', JSON.stringify(given.sort()), 'base64url')`,
    why: 'Equivalent: a longer hash distinguishes filters as well.',
  },
  {
    file: 'server/src/platform/lists/read-page.ts',
    original: 'last !== undefined',
    replacement: 'true',
    why: unreachable,
  },
  {
    file: 'server/src/notify/webhooks/guard/is-allowed.ts',
    original: 'parsed !== null',
    replacement: 'true',
    why: unreachable,
  },
  {
    file: 'server/src/notify/webhooks/sender/account-slots.ts',
    original: 'left > 0',
    replacement: 'true',
    why: memoryOnly,
  },
  {
    file: 'server/src/notify/webhooks/sender/account-slots.ts',
    original: 'left > 0',
    replacement: 'left >= 0',
    why: memoryOnly,
  },
  {
    file: 'server/src/notify/webhooks/sender/fair-queue.ts',
    original: 'accountUuid === undefined',
    replacement: 'false',
    why: 'Equivalent: removing a missing entry does nothing.',
  },
  {
    file: 'server/src/notify/webhooks/sender/fair-queue.ts',
    original: 'queue?.delete',
    replacement: 'queue.delete',
    why: unreachable,
  },
  {
    file: 'server/src/notify/webhooks/sender/fair-queue.ts',
    original: 'queue?.size',
    replacement: 'queue.size',
    why: unreachable,
  },
  {
    file: 'server/src/notify/webhooks/sender/fair-queue.ts',
    original: 'accountOf.has(endpointUuid)',
    replacement: 'false',
    why: 'Equivalent: an endpoint keeps its account, and adding it to a set again does nothing.',
  },
  {
    file: 'server/src/notify/webhooks/sender/lanes.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    why: 'Equivalent: an endpoint without a lane is not proven.',
  },
  {
    file: 'server/src/notify/webhooks/sender/lanes.ts',
    original: 'lanes.get(endpointUuid)?.standing',
    replacement: 'lanes.get(endpointUuid).standing',
    why: unreachable,
  },
  {
    file: 'server/src/notify/webhooks/sender/lanes.ts',
    original: 'endpoints.size === 0',
    replacement: 'false',
    why: memoryOnly,
  },
];
