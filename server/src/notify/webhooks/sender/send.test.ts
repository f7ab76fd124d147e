import { expect, test } from 'vitest';
import { type Message, resolveHost, type SendOptions, send } from './send.ts';

test('a look-up that is slow is not waited for at a stop, and says nothing against the endpoint', async () => {
  const stopping = new AbortController();
  const names = { resolve: () => new Promise<never>(() => {}) };
  const url = 'https://slow.example/hook';
  const resolving = resolveHost({ names } as never, { account_id: 'a', url }, stopping.signal);
  stopping.abort();
  expect(await resolving).toEqual({ unsent: 'stopping', isFault: false });
});

test('each account has its own connections, so a slow receiver of another on the same host takes none of them', () => {
  const asked: string[] = [];
  const options = {
    ...{ clock: { nowMs: () => 0 }, signingKeys: () => [] },
    dispatcherOf(account: string) {
      asked.push(account);
      throw new Error('not sent');
    },
  } as unknown as SendOptions;
  const message = {
    account_id: 'a',
    event_id: '0190a000-0000-7000-8000-000000000000',
    body: '{}',
  } as Message;
  expect(() => send(options, message, [], new AbortController().signal)).toThrow('not sent');
  expect(asked).toEqual(['a']);
});
