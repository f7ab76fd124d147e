import { expect, test } from 'vitest';
import { createClaim } from './claim.ts';
import { createKeysInFlight } from './keys-in-flight.ts';
import { readStored } from './outcome.ts';

const request = {
  accountId: 'a',
  key: 'k',
  method: 'POST',
  path: '/v1/esims',
  query: '',
  canonicalBody: '{}',
};

function claimAndStored() {
  const claim = createClaim(request, 1_000);
  const answer = { status: 202, location: '/v1/executions/x', body: '{"id":"x"}' };
  return { claim, stored: { ...answer, fingerprint: Buffer.from(claim.fingerprint, 'hex') } };
}

test('a stored answer is replayed to the same request and to no other', () => {
  const { claim, stored } = claimAndStored();
  expect(readStored(stored, claim)).toEqual({
    kind: 'answered',
    answer: { status: 202, location: '/v1/executions/x', body: '{"id":"x"}' },
    replayed: true,
  });
  for (const change of [
    { method: 'DELETE' },
    { path: '/v1/other' },
    { query: 'a=1' },
    { canonicalBody: '{"a":1}' },
  ]) {
    expect(readStored(stored, createClaim({ ...request, ...change }, 1_000))).toEqual({ kind: 'reused' });
  }
  expect(readStored(stored, null)).toEqual({ kind: 'reused' });
});

test('a claim lasts 24 hours and belongs to its account', () => {
  const { claim } = claimAndStored();
  expect(claim).toMatchObject({ id: 'a\nk', key: 'k', createdAt: new Date(1_000) });
  expect(claim.expiresAt).toEqual(new Date(1_000 + 24 * 3_600_000));
});

test('a key in flight cannot be entered again until it is left', () => {
  const keys = createKeysInFlight();
  expect([keys.enter('a'), keys.enter('a'), keys.enter('b')]).toEqual([true, false, true]);
  keys.leave('a');
  expect([keys.enter('a'), keys.enter('b')]).toEqual([true, false]);
});
