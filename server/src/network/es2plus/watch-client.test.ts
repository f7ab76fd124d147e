import { expect, test } from 'vitest';
import { createPeerState } from '../peer-state.ts';
import type { Es2Client } from './client.ts';
import { watchClient } from './watch-client.ts';

type Posted = Awaited<ReturnType<Es2Client['post']>>;

/** What the operator sees of an SM-DP+ after calls that ended like this. */
async function seenAfter(...outcomes: Posted[]) {
  const state = createPeerState('smdp', 'smdp.example');
  const client: Es2Client = {
    host: 'smdp.example',
    post: async () => outcomes.shift() as Posted,
    close: async () => {},
  };
  const watched = watchClient(client, state);
  const options = { signal: new AbortController().signal, isFresh: false };
  while (outcomes.length > 0) await watched.post('/path', '{}', options);
  const { reachable, last_error: lastError } = state.report();
  return [reachable, lastError?.message ?? null];
}

const answered = (status: number): Posted => ({ kind: 'answered', status, json: null });
const unanswered = (why: 'not-json' | 'too-large' | 'timeout' | 'connection'): Posted => ({
  ...{ kind: 'unanswered', why, isUnsent: false, error: why },
});

test('an SM-DP+ that answers is reachable, also if the operator must correct something', async () => {
  expect(await seenAfter(answered(200))).toEqual([true, null]);
  expect(await seenAfter(answered(500))).toEqual([true, 'HTTP 500']);
  expect(await seenAfter(answered(403))).toEqual([true, expect.stringMatching(/^HTTP 403; have the certi/)]);
  expect(await seenAfter(unanswered('not-json'))).toEqual([true, 'not-json']);
  expect(await seenAfter(unanswered('too-large'))).toEqual([true, 'too-large']);
});

test('one that gives no answer is not, and neither is one whose gateway answers for it', async () => {
  expect(await seenAfter(answered(200), unanswered('timeout'))).toEqual([false, 'timeout']);
  expect(await seenAfter(unanswered('connection'))).toEqual([false, expect.stringMatching(/^connection; /)]);
  for (const status of [502, 503, 504])
    expect(await seenAfter(answered(200), answered(status))).toEqual([
      false,
      `HTTP ${status}: its gateway is up, but the SM-DP+ behind it is down`,
    ]);
});
