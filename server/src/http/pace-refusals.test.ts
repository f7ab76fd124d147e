import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AppError } from '../platform/app-error.ts';
import { createRefusalPace } from './pace-refusals.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const account = (uuid: string) => ({ caller: { account: { uuid } }, ip: '192.0.2.1' });
const stranger = (ip: string) => ({ caller: null, ip });
const overLimit = new AppError('rate_limited', 'Too many.');
const wrongKey = new AppError('api_key_invalid', 'Unknown.');
const invalid = new AppError('parameter_invalid', 'Wrong.', { param: 'limit' });

function start() {
  const pace = createRefusalPace();
  /** Refuses this often at once. Returns what became of it. */
  const refuse = (times: number, client: object, refusal: AppError) => {
    const state = { answered: 0, replies: [] as EventEmitter[] };
    for (let i = 0; i < times; i++) {
      const raw = new EventEmitter();
      state.replies.push(raw);
      pace.answer(client as FastifyRequest, { raw } as FastifyReply, refusal, () => {
        state.answered += 1;
      });
    }
    return state;
  };
  return { pace, refuse };
}

describe('refusals', () => {
  test.for([
    ['of an account over a limit', account('a'), account('b'), overLimit],
    ['of a stranger', stranger('192.0.2.1'), stranger('192.0.2.2'), wrongKey],
  ] as const)(
    '%s are answered 100 at once and 20 a second; others are not held',
    ([, one, other, refusal]) => {
      const { refuse } = start();
      const flood = refuse(150, one, refusal);
      expect(flood.answered).toBe(100);
      expect(refuse(50, other, refusal).answered).toBe(50);
      vi.advanceTimersByTime(1_000);
      expect(flood.answered).toBe(120);
      vi.advanceTimersByTime(1_500);
      expect(flood.answered).toBe(150);
    },
  );

  test('that wait tell since when, so that their wait does not count as slowness of the server', () => {
    const { refuse } = start();
    const [early, late] = [stranger('192.0.2.1'), stranger('192.0.2.1')] as { heldFromMs?: number }[];
    refuse(100, early as object, wrongKey);
    vi.advanceTimersByTime(7);
    refuse(1, late as object, wrongKey);
    expect(early).not.toHaveProperty('heldFromMs');
    refuse(1, late as object, wrongKey);
    expect(late?.heldFromMs).toBe(performance.now());
  });

  test('of the server’s own making are never held: whoever retries them does as told', () => {
    const { refuse } = start();
    const away = new AppError('unavailable', 'Away.');
    expect(refuse(500, stranger('192.0.2.1'), away).answered).toBe(500);
  });

  test('of a known key that is within its limits are never held', () => {
    const { refuse } = start();
    refuse(200, account('a'), overLimit);
    expect(refuse(500, account('a'), invalid).answered).toBe(500);
  });

  test('wait ten seconds at most, are not all answered at once then, and leave no trace', () => {
    const { refuse } = start();
    const flood = refuse(1_500, account('a'), overLimit);
    vi.advanceTimersByTime(7_500);
    expect(flood.answered).toBeGreaterThan(500);
    expect(flood.answered).toBeLessThan(1_200);
    vi.advanceTimersByTime(2_500);
    expect(flood.answered).toBe(1_500);
    vi.advanceTimersByTime(1_000);
    expect(refuse(1, account('a'), overLimit).answered).toBe(1);
  });

  test('whose client left are forgotten', () => {
    const { refuse } = start();
    const flood = refuse(150, account('a'), overLimit);
    for (const reply of flood.replies) reply.emit('close');
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10_000);
    expect(flood.answered).toBe(100);
  });

  test('are remembered for a bounded number of addresses', () => {
    const { refuse } = start();
    expect(refuse(101, stranger('192.0.2.1'), wrongKey).answered).toBe(100);
    for (let i = 0; i < 10_000; i++) refuse(1, stranger(`10.0.${i >> 8}.${i & 255}`), wrongKey);
    expect(refuse(1, stranger('192.0.2.1'), wrongKey).answered).toBe(1); // forgotten
  });

  test('that wait are answered when the process stops, and so are later ones', () => {
    const { pace, refuse } = start();
    const flood = refuse(300, account('a'), overLimit);
    pace.end();
    expect(flood.answered).toBe(300);
    expect(refuse(300, account('a'), overLimit).answered).toBe(300);
    expect(vi.getTimerCount()).toBe(0);
  });
});
