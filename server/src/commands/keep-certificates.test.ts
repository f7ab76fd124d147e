import type { Logger } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepCertificates } from './keep-certificates.ts';

const day = 86_400_000;
const said: string[] = [];
const say = (about: { error?: string }, text: string) => {
  said.push(about.error ?? text);
};
const log = { info: say, warn: say } as unknown as Logger;

beforeEach(() => {
  said.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setOf(name: string, daysLeft: number) {
  return {
    tls: { name },
    ends: [{ setting: 'SIMPLANE_ES2_CERT', endsAt: new Date(Date.now() + daysLeft * day) }],
  };
}

test('a certificate that is refused at first is used once it is valid, and each cause is logged once', async () => {
  const used: string[] = [];
  const renewed = setOf('renewed', 90);
  let refusal: string | null = 'not valid before noon';
  const kept = keepCertificates({
    first: setOf('first', 90),
    paths: [],
    async read() {
      if (refusal !== null) throw new Error(refusal);
      return renewed;
    },
    use: ({ tls }) => used.push(tls.name),
    log,
  });
  await vi.advanceTimersByTimeAsync(60_000);
  refusal = 'no such file';
  await vi.advanceTimersByTimeAsync(60_000);
  expect([said, used]).toEqual([['not valid before noon', 'no such file'], []]);
  refusal = null;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([said.slice(2), used]).toEqual([['certificates were reloaded'], ['renewed']]);
  expect(kept.ends()).toBe(renewed.ends);
  await kept.stop();
});

test('a certificate that is not replaced is warned of daily from 30 days before its end', async () => {
  const first = setOf('first', 31.5);
  const kept = keepCertificates({ first, paths: [], read: async () => first, use: () => {}, log });
  await vi.advanceTimersByTimeAsync(1.1 * day);
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(2 * day);
  const warning = 'a certificate expires soon; replace its file';
  expect(said).toEqual([warning, warning]);
  await kept.stop();
});

test('of two reloads the later one decides, also if it has read its files first', async () => {
  const used: string[] = [];
  const reads: (() => void)[] = [];
  let onDisk = 'first';
  const kept = keepCertificates({
    first: setOf('first', 90),
    paths: [],
    read() {
      const found = setOf(onDisk, 90);
      return new Promise<typeof found>((resolve) => reads.push(() => resolve(found)));
    },
    use: ({ tls }) => used.push(tls.name),
    log,
  });
  const reloads: Promise<void>[] = [];
  for (onDisk of ['second', 'third']) {
    reloads.push(kept.reload());
    await vi.advanceTimersByTimeAsync(0);
  }
  for (const _ of reloads) {
    reads.pop()?.();
    await vi.advanceTimersByTimeAsync(0);
  }
  await Promise.all(reloads);
  expect(used.at(-1)).toBe('third');
  await kept.stop();
});
