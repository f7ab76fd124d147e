import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from './database.ts';
import { endClient } from './end-client.ts';
import { type Opened, openWritable } from './open-client.ts';
import { examineSession, type Session } from './session.ts';
import { createSignals, type Signals } from './signals.ts';

vi.mock(import('./open-client.ts'), async (original) => ({ ...(await original()), openWritable: vi.fn() }));
vi.mock(import('./end-client.ts'), async (original) => ({ ...(await original()), endClient: vi.fn() }));
vi.mock(import('./session.ts'), async (original) => ({ ...(await original()), examineSession: vi.fn() }));

const primary: Session = { isDirect: true, isStandby: false, isReadOnly: false };

/** The connections that were opened, the last one last. */
let clients: (EventEmitter & { sent: string[] })[];
let errors: string[];
let notified: string[];
/** Why the next statement on a new connection fails. */
let refusal: Error | null;
let signals: Signals;

beforeEach(() => {
  vi.useFakeTimers();
  [clients, errors, notified, refusal] = [[], [], [], null];
  vi.mocked(openWritable).mockReset();
  vi.mocked(openWritable).mockImplementation(async () => {
    const sent: string[] = [];
    const client = Object.assign(new EventEmitter(), {
      sent,
      async query(text: string) {
        sent.push(text);
        if (refusal) throw refusal;
      },
    });
    clients.push(client);
    return { client } as unknown as Opened;
  });
  vi.mocked(endClient).mockReset();
  vi.mocked(endClient).mockImplementation(async (client) => void client.emit('end'));
  vi.mocked(examineSession).mockReset().mockResolvedValue(primary);
  const query = async (_: unknown, [, payload]: [string, string]) => void notified.push(payload);
  signals = createSignals({
    db: { query } as unknown as Database,
    connectionString: 'postgresql://db/simplane',
    onError: ({ message }) => void errors.push(message),
  });
});
afterEach(async () => {
  await signals.stop();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const latest = () => clients.at(-1) as (typeof clients)[number];

/** What listeners of each topic have heard. */
function listen() {
  const heard: unknown[] = [];
  for (const topic of ['executions', 'deliveries'] as const)
    signals.on(topic, (subject) => void heard.push([topic, subject]));
  return heard;
}

test('a process that waits for signals listens on one connection, and says that it does', async () => {
  await pass(10_000);
  expect(clients).toEqual([]);
  listen();
  await pass(1);
  expect(clients.map(({ sent }) => sent)).toEqual([['listen simplane', `notify simplane, 'hello'`]]);
});

test('a signal is heard by the listeners of its topic, once for each of its subjects', async () => {
  const heard = listen();
  await pass(1);
  for (const payload of ['deliveries a b', 'executions', 'of_a_newer_release x', '', undefined])
    latest().emit('notification', { payload });
  expect(heard).toEqual([
    ['deliveries', 'a'],
    ['deliveries', 'b'],
    ['executions', undefined],
  ]);
});

test('a process that knows of no other hears all while it listens, but not for 15 s after another one came', async () => {
  signals.setAlone(true);
  expect(signals.hearsAll()).toBe(false);
  listen();
  await pass(1);
  expect(signals.hearsAll()).toBe(true);
  latest().emit('notification', { payload: 'hello' });
  signals.announce('executions');
  await pass(14_999);
  expect([signals.hearsAll(), notified]).toEqual([false, ['executions']]);
  await pass(2);
  expect(signals.hearsAll()).toBe(true);
  latest().emit('end');
  expect(signals.hearsAll()).toBe(false);
});

test('a connection that ends is replaced a second later, and not after the stop', async () => {
  listen();
  await pass(1);
  latest().emit('end');
  await pass(999);
  expect(clients).toHaveLength(1);
  await pass(1);
  expect(clients).toHaveLength(2);
  expect(latest().sent).toEqual(['listen simplane', `notify simplane, 'hello'`]);
  // The one that has ended is not asked whether it lasts.
  await pass(1_500);
  expect(examineSession).not.toHaveBeenCalled();
  latest().emit('end');
  await signals.stop();
  await pass(10_000);
  expect(clients).toHaveLength(2);
});

test('a server that cannot be reached is told and tried again each second', async () => {
  vi.mocked(openWritable)
    .mockRejectedValueOnce(new Error('away'))
    .mockRejectedValueOnce(new Error('still away'));
  listen();
  await pass(1_500);
  expect([errors, clients]).toEqual([['away', 'still away'], []]);
  await pass(1_000);
  expect(clients).toHaveLength(1);
});

test('a connection on which nothing can be listened to is told, ended and replaced', async () => {
  refusal = new Error('refused');
  listen();
  await pass(1);
  expect([errors, vi.mocked(endClient).mock.calls.length]).toEqual([['refused'], 1]);
  refusal = null;
  await pass(1_000);
  expect(latest().sent).toHaveLength(2);
});

test('an error of the connection is told, and does not end the process', async () => {
  listen();
  await pass(1);
  latest().emit('error', new Error('reset'));
  expect(errors).toEqual(['reset']);
});

test.each<[string, () => Promise<Session>]>([
  ['was demoted', async () => ({ ...primary, isStandby: true, isReadOnly: true })],
  ['does not answer', () => Promise.reject(new Error('no answer'))],
])('every two seconds the server is asked; a connection to one that %s is replaced', async (_, ask) => {
  listen();
  await pass(1);
  await pass(4_000);
  expect([vi.mocked(examineSession).mock.calls.length, clients.length]).toEqual([2, 1]);
  vi.mocked(examineSession).mockImplementation(ask);
  await pass(2_000);
  expect(endClient).toHaveBeenCalledTimes(1);
  vi.mocked(examineSession).mockResolvedValue(primary);
  await pass(1_000);
  expect(clients).toHaveLength(2);
  // The replaced one is asked no more.
  vi.mocked(examineSession).mockClear();
  await pass(2_000);
  expect(vi.mocked(examineSession).mock.calls.map(([client]) => client)).toEqual([latest()]);
});

test('a process that stops ends its connection, and tells no error of one that is being opened', async () => {
  listen();
  await pass(1);
  await signals.stop();
  expect(endClient).toHaveBeenCalledExactlyOnceWith(latest());
  const late = createSignals({
    db: {} as Database,
    connectionString: 'postgresql://db/simplane',
    onError: ({ message }) => void errors.push(message),
  });
  let fail = (_: Error) => {};
  vi.mocked(openWritable).mockReturnValueOnce(new Promise((_, reject) => (fail = reject)));
  late.on('feed', () => {});
  await late.stop();
  fail(new Error('away'));
  await pass(10_000);
  expect([errors, clients.length]).toEqual([[], 1]);
});
