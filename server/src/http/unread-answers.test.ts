import { Socket } from 'node:net';
import type { BatchInstallProfiles } from '@simplane/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sendFile } from './send-file.ts';
import { createUnreadAnswers } from './unread-answers.ts';

const megabyte = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Request = Parameters<ReturnType<typeof createUnreadAnswers>['add']>[0];

const requestOf = (account: string) =>
  ({ raw: { socket: new Socket() }, caller: { account: { uuid: account } }, ip: '' }) as unknown as Request;

function start() {
  const cut: Request[] = [];
  const answers = createUnreadAnswers(() => cut.push(requestOf('')));
  /** Reserves for a new request; tells whether it may go on. */
  const reserve = (account: string, bytes: number) => {
    const request = requestOf(account);
    const state = { request, outcome: 'waiting' };
    void answers.reserve(request, bytes).then(
      () => {
        state.outcome = 'started';
      },
      ({ code, headers }) => {
        state.outcome = `${code}, retry after ${headers['Retry-After']}`;
      },
    );
    return state;
  };
  return { answers, cut, reserve };
}

const refused = 'rate_limited, retry after 5';
const settle = () => vi.advanceTimersByTimeAsync(0);
const outcomes = (all: { outcome: string }[]) => all.map(({ outcome }) => outcome);

test('an account has 8 MB of answers that are read or unread; the next wait, and others do not', async () => {
  const { answers, reserve } = start();
  const all = [1, 2, 3, 4].map(() => reserve('a', 4 * megabyte));
  const other = reserve('b', 4 * megabyte);
  await settle();
  expect(outcomes(all)).toEqual(['started', 'started', 'waiting', 'waiting']);
  expect(other.outcome).toBe('started');
  answers.add((all[0] as { request: Request }).request, 3 * megabyte);
  await settle();
  expect(all[2]?.outcome).toBe('waiting');
  answers.end((all[0] as { request: Request }).request);
  await settle();
  expect(outcomes(all)).toEqual(['started', 'started', 'started', 'waiting']);
  answers.shrink((all[1] as { request: Request }).request, 0);
  await settle();
  expect(all[3]?.outcome).toBe('started');
});

test('a small answer does not overtake one that waits', async () => {
  const { answers, reserve } = start();
  const first = reserve('a', 6 * megabyte);
  const large = reserve('a', 4 * megabyte);
  const small = reserve('a', megabyte);
  await settle();
  expect(outcomes([large, small])).toEqual(['waiting', 'waiting']);
  answers.end(first.request);
  await settle();
  expect(outcomes([large, small])).toEqual(['started', 'started']);
});

test('one that waits too long is refused, and so are too many', async () => {
  const { reserve } = start();
  reserve('a', 8 * megabyte);
  const waiting = Array.from({ length: 500 }, () => reserve('a', megabyte));
  const surplus = reserve('a', megabyte);
  await settle();
  expect(surplus.outcome).toBe(refused);
  expect(new Set(outcomes(waiting))).toEqual(new Set(['waiting']));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(new Set(outcomes(waiting))).toEqual(new Set([refused]));
  expect(reserve('b', megabyte).outcome).toBe('waiting');
});

test('a request whose client has left holds nothing, whenever it left', async () => {
  const { answers, reserve } = start();
  const first = reserve('a', 8 * megabyte);
  const left = reserve('a', 8 * megabyte);
  answers.end(left.request);
  await settle();
  expect(left.outcome).toBe(refused);
  answers.end(first.request);
  await expect(answers.reserve(first.request, megabyte)).rejects.toMatchObject({ code: 'rate_limited' });
  answers.shrink(first.request, megabyte);
  const next = reserve('a', 8 * megabyte);
  await settle();
  expect(next.outcome).toBe('started');
});

test('over the budget of the process, the oldest of the account that holds most is cut', () => {
  const { answers, cut } = start();
  const [few, ...many] = ['few', 'many', 'many', 'many'].map(requestOf) as [Request, ...Request[]];
  answers.add(few, 8 * megabyte);
  for (const request of many.slice(0, 2)) answers.add(request, 12 * megabyte);
  expect(cut).toHaveLength(0);
  answers.add(many[2] as Request, megabyte);
  expect(cut).toHaveLength(1);
  expect([few, ...many].map(({ raw }) => raw.socket.destroyed)).toEqual([false, true, false, false]);
});

test('files count as other answers do', async () => {
  const { answers, cut } = start();
  const reply = { header: () => reply, code: () => reply, type: () => reply, send: () => reply };
  const profiles = { batch_id: 'batch_1', data: [{ reference: 'x'.repeat(12 * megabyte) }] };
  for (let file = 1; file <= 3; file++) {
    const request = requestOf('a') as FastifyRequest;
    const asked = { request, reply: reply as unknown as FastifyReply, unread: answers };
    await sendFile(asked, profiles as unknown as BatchInstallProfiles, { format: 'ndjson' });
  }
  expect(cut).toHaveLength(1);
});

test('a large answer cuts as many others as it needs room for', () => {
  const { answers, cut } = start();
  const small = Array.from({ length: 32 }, () => requestOf('a'));
  for (const request of small) answers.add(request, megabyte);
  const large = requestOf('b');
  answers.add(large, 4 * megabyte);
  expect(cut).toHaveLength(4);
  expect([...small, large].filter(({ raw }) => raw.socket.destroyed)).toEqual(small.slice(0, 4));
});

test('an answer for a connection that has closed takes no room', async () => {
  const { answers, reserve } = start();
  const closed = requestOf('a');
  closed.raw.socket.destroy();
  answers.add(closed, 8 * megabyte);
  const next = reserve('a', 8 * megabyte);
  await settle();
  expect(next.outcome).toBe('started');
});

test('a request that asks for its next page makes room for those that wait, and waits behind them', async () => {
  const { answers, reserve } = start();
  const [first, second] = [reserve('a', 4 * megabyte), reserve('a', 4 * megabyte)];
  const waiting = reserve('a', 4 * megabyte);
  await settle();
  expect(waiting.outcome).toBe('waiting');
  const next = answers.reserve(first.request, 4 * megabyte).then(() => 'started');
  await settle();
  expect(waiting.outcome).toBe('started');
  expect(await Promise.race([next, settle().then(() => 'waiting')])).toBe('waiting');
  answers.end(second.request);
  expect(await next).toBe('started');
});

test('answers below 16 kB are not counted: a connection has one at a time', async () => {
  const { answers, reserve } = start();
  for (let n = 0; n < 1_000; n++) answers.add(requestOf('a'), 16 * 1024 - 1);
  const whole = reserve('a', 8 * megabyte);
  await settle();
  expect(whole.outcome).toBe('started');
  answers.add(requestOf('b'), 16 * 1024);
  const next = reserve('b', 8 * megabyte);
  await settle();
  expect(next.outcome).toBe('waiting');
});

test('one that is refused because it waited too long lets the next one start', async () => {
  const { reserve } = start();
  reserve('a', 6 * megabyte);
  const large = reserve('a', 4 * megabyte);
  await vi.advanceTimersByTimeAsync(5_000);
  const small = reserve('a', megabyte);
  await settle();
  expect(small.outcome).toBe('waiting');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(outcomes([large, small])).toEqual([refused, 'started']);
});

test('an answer that is cut makes room for those of its account that wait', async () => {
  const { answers, cut, reserve } = start();
  answers.add(requestOf('a'), 9 * megabyte);
  const waiting = reserve('a', megabyte);
  for (const account of ['b', 'c']) answers.add(requestOf(account), 8 * megabyte);
  await settle();
  expect([cut.length, waiting.outcome]).toEqual([0, 'waiting']);
  answers.add(requestOf('d'), 8 * megabyte);
  await settle();
  expect([cut.length, waiting.outcome]).toEqual([1, 'started']);
});

test('an answer larger than the whole budget is not cut for itself', () => {
  const { answers, cut } = start();
  const large = requestOf('a');
  answers.add(large, 40 * megabyte);
  expect([large.raw.socket.destroyed, cut.length]).toEqual([false, 0]);
});
