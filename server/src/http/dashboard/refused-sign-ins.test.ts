import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import type { KnownKey } from '../../accounts/key-directory.ts';
import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';
import { createRefusedSignIns } from './refused-sign-ins.ts';

function start() {
  let nowMs = 0;
  const state = { written: 0, isAway: false, warnings: [] as object[], reasons: [] as string[] };
  const service = {
    db: {
      query: async () => {
        if (state.isAway) throw new Error('away');
        state.written += 1;
        return [];
      },
    },
    clock: { nowMs: () => 0 },
    newUuid: () => Buffer.alloc(16),
    log: { warn: (fields: object) => void state.warnings.push(fields) },
    metrics: { signInsRefused: { inc: ({ reason }: { reason: string }) => void state.reasons.push(reason) } },
  } as unknown as Service;
  const note = createRefusedSignIns(service, () => nowMs);
  const requestFrom = (ip: string) => ({ id: 'req_1', ip }) as FastifyRequest;
  /** Refuses this often; returns how many entries that made. */
  async function refuse(times: number, error: unknown, { ip = '192.0.2.1', known = null }: Refused = {}) {
    const before = state.written;
    for (let n = 0; n < times; n++) await note(requestFrom(ip), error, known);
    return state.written - before;
  }
  return { state, refuse, wait: (ms: number) => (nowMs += ms) };
}

type Refused = { ip?: string; known?: KnownKey | null };
const keyOf = (uuid: string) =>
  ({
    account: { uuid: 'a' },
    apiKey: { id: `key_${uuid}`, uuid, name: 'One', scopes: [] },
  }) as unknown as KnownKey;
const wrong = new AppError('api_key_invalid', 'Unknown.');
const tooOften = new AppError('rate_limited', 'Too many.');
const hour = 3_600_000;

test('of a key, ten refusals an hour are noted, also those over a limit; another key has its own', async () => {
  const { refuse, wait } = start();
  const one = { known: keyOf('1') };
  expect([await refuse(6, wrong, one), await refuse(6, tooOften, one)]).toEqual([6, 4]);
  expect(await refuse(1, wrong, { known: keyOf('2') })).toBe(1);
  wait(hour / 10 - 1);
  expect(await refuse(1, wrong, one)).toBe(0);
  wait(2);
  expect(await refuse(5, wrong, one)).toBe(1);
  wait(hour);
  expect(await refuse(15, wrong, one)).toBe(10);
});

test('of a stranger, one refusal an hour is noted, and none for trying too often; all are counted', async () => {
  const { state, refuse, wait } = start();
  expect([await refuse(3, tooOften), await refuse(3, wrong)]).toEqual([0, 1]);
  wait(hour - 1);
  expect(await refuse(1, wrong)).toBe(0);
  wait(2);
  expect(await refuse(2, wrong)).toBe(1);
  expect(state.reasons).toHaveLength(9);
});

test('of strangers of any number of networks, sixty refusals an hour are noted', async () => {
  const { refuse, wait } = start();
  const all = async () => {
    let noted = 0;
    for (let n = 0; n < 100; n++) noted += await refuse(1, wrong, { ip: `198.51.100.${n}` });
    return noted;
  };
  expect(await all()).toBe(60);
  wait(hour);
  expect(await all()).toBe(60);
});

test('what is no refusal of a sign-in is neither noted nor counted', async () => {
  const { state, refuse } = start();
  const others = [
    new Error('a bug'),
    new AppError('unavailable', 'Away.'),
    new AppError('wrong_cell', 'Elsewhere.'),
  ];
  for (const error of others) expect(await refuse(1, error)).toBe(0);
  expect(state.reasons).toEqual([]);
});

test('a refusal that cannot be noted stays a refusal, and the log says so', async () => {
  const { state, refuse } = start();
  state.isAway = true;
  expect(await refuse(1, wrong)).toBe(0);
  expect(state.warnings).toEqual([{ error: 'away' }]);
});
