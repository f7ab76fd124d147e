import type { FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import type { RequestLine } from '../views/request-log/buffer.ts';
import { createRequestLogger } from './add-to-request-log.ts';

/** The lines of a log that has room for answers below 400 or for all. */
function start(hasRoom: (status: number) => boolean) {
  const lines: RequestLine[] = [];
  const requestLog = { level: 'all', hasRoom, add: (line: RequestLine) => void lines.push(line) };
  return { lines, log: createRequestLogger({ requestLog } as never, {}) };
}

const request = {
  ...{
    id: 'req_1',
    method: 'GET',
    url: '/v1/me',
    headers: {},
    routeOptions: { config: {} },
    ip: '192.0.2.1',
  },
  ...{ caller: { account: { uuid: 'a' }, apiKey: { uuid: 'k' } }, idempotency: null, storedError: null },
  refusal: { code: 'internal', message: 'An internal error occurred.', param: undefined },
} as unknown as FastifyRequest;
const ended = { durationMs: 1, path: '/v1/me', wasSent: true };

test('a request for which the log has no room is left out', () => {
  const { lines, log } = start((status) => status >= 400);
  log(request, { ...ended, status: 200 });
  log(request, { ...ended, status: 500 });
  expect(lines.map(({ status }) => status)).toEqual([500]);
});

test('the log has the error that a client got, and none of one that had left', () => {
  const { lines, log } = start(() => true);
  log(request, { ...ended, status: 500 });
  log(request, { ...ended, status: 499, wasSent: false });
  expect(lines.map(({ error }) => error?.code)).toEqual(['internal', undefined]);
});

test('of each account, five requests over a limit are logged at once, and five more a second', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const { lines, log } = start(() => true);
    const refuse = (uuid: string) => {
      const caller = { account: { uuid }, apiKey: { uuid: 'k' } };
      for (let n = 0; n < 20; n++) log({ ...request, caller } as FastifyRequest, { ...ended, status: 429 });
      return lines.splice(0).length;
    };
    expect([refuse('a'), refuse('b'), refuse('a')]).toEqual([5, 5, 0]);
    vi.advanceTimersByTime(1_000);
    expect(refuse('a')).toBe(5);
  } finally {
    vi.useRealTimers();
  }
});
