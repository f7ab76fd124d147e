import { expect, test } from 'vitest';
import { createLinkLimits } from './link-limits.ts';

type Limits = ReturnType<typeof createLinkLimits>;

function start() {
  let nowMs = 0;
  const limits = createLinkLimits(() => nowMs);
  const countOf = (take: (link: string) => boolean, link: string) => {
    for (let count = 0; ; count++) if (!take(link)) return count;
  };
  return { limits, countOf, wait: (ms: number) => (nowMs += ms) };
}

test.each<[keyof Limits, burst: number, oneEveryMs: number]>([
  ['takeRequest', 100, 200],
  ['takeView', 60, 60_000],
  ['takeCode', 20, 180_000],
])(
  '%s gives %i of a link at once, and then one every %i ms; another link has its own',
  (name, burst, everyMs) => {
    const { limits, countOf, wait } = start();
    expect([countOf(limits[name], 'one'), countOf(limits[name], 'other')]).toEqual([burst, burst]);
    wait(everyMs * 0.99);
    expect(limits[name]('one')).toBe(false);
    wait(everyMs * 0.02);
    expect(countOf(limits[name], 'one')).toBe(1);
    wait(24 * 3_600_000);
    expect(countOf(limits[name], 'one')).toBe(burst);
  },
);

test('what is counted of one kind takes nothing of another', () => {
  const { limits, countOf } = start();
  expect([limits.takeRequest, limits.takeView, limits.takeCode].map((take) => countOf(take, 'one'))).toEqual([
    ...[100, 60, 20],
  ]);
});

test.each<keyof Limits>(['takeRequest', 'takeView', 'takeCode'])(
  'beyond 10,000 links, %s forgets the oldest only',
  (name) => {
    const { limits, countOf } = start();
    const burst = countOf(limits[name], 'first');
    countOf(limits[name], 'second');
    for (let n = 2; n < 10_000; n++) limits[name](`link ${n}`);
    expect(limits[name]('first')).toBe(false);
    limits[name]('one more');
    expect(limits[name]('second')).toBe(false);
    expect(countOf(limits[name], 'first')).toBe(burst);
  },
);
