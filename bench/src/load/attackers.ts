/** A child program that attacks a server from one address at full speed, until it is told to stop. */
import { setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveTasks } from '../support/child.ts';

type Attack = keyof typeof attacks;
type Target = { url: string; keys: string[] };

// So that an attack ends even if the parent is gone.
const longestMs = 60_000;

let stopping = new AbortController();
const sockets = new Set<Socket>();

const jsonHead = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${headers}\r\n`;

/** Sends requests one after another, and ignores how they end. */
async function repeat(send: () => Promise<unknown>): Promise<void> {
  while (!stopping.signal.aborted) await send().catch(() => sleep(20));
}

function fetchText(url: string, key: string, init: RequestInit = {}): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...init.headers };
  return fetch(url, { ...init, headers, signal: stopping.signal }).then((response) => response.text());
}

/** A connection that sends these bytes, reads nothing, and is opened again when it is closed. */
function keepOpen(url: string, bytes: string): void {
  if (stopping.signal.aborted) return;
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('connect', () => socket.write(bytes));
  socket.once('close', () => {
    sockets.delete(socket);
    setTimeout(keepOpen, 10, url, bytes);
  });
}

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const slowLists = [
  `/v1/events?type=${times(49, (n) => `${'a.'.repeat(n + 1)}*`).join(',')}`,
  '/v1/events?delivery=pending&type=none.such',
  '/v1/esims?metadata[one]=1&metadata[two]=2',
];
const longIntegers = `{"${'a'.repeat(17_000)}":[${times(6_000, () => '9007199254740993').join()}]}`;

const attacks = {
  'hostile bodies': ({ url }: Target) =>
    times(4, () =>
      repeat(() =>
        fetchText(`${url}/dashboard/api/session`, '', {
          method: 'POST',
          headers: { Origin: url },
          body: longIntegers,
        }),
      ),
    ),
  'unfinished bodies': ({ url, keys: [key] }: Target) =>
    times(4_100, async () =>
      keepOpen(url, `${jsonHead('/v1/esims', `Authorization: Bearer ${key}\r\nContent-Length: 100\r\n`)}{`),
    ),
  'slow lists': ({ url, keys: [key = ''] }: Target) =>
    times(24, (n) => repeat(() => fetchText(url + slowLists[n % slowLists.length], key))),
  'unread pages': ({ url, keys: [key] }: Target) =>
    times(20, async () =>
      keepOpen(
        url,
        `GET /v1/events?type=bench.large&limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      ),
    ),
  streams: ({ url, keys }: Target) =>
    keys.flatMap((key) =>
      times(20, () =>
        repeat(() => fetchText(`${url}/v1/events/feed`, key, { headers: { Accept: 'text/event-stream' } })),
      ),
    ),
  'feed readers': ({ url, keys }: Target) =>
    times(200, (n) =>
      repeat(() =>
        fetchText(`${url}/v1/events/feed?after=start&type=none.such&limit=1000`, keys[n % keys.length] ?? ''),
      ),
    ),
  'guessed keys': ({ url }: Target) =>
    times(16, (n) => {
      let count = 0;
      return repeat(() => fetchText(`${url}/v1/me`, `sp_test_guess_${n}_${count++}`));
    }),
};

// An attacker has a machine of its own. Here it takes what the others leave, which is still more than a process can answer.
setPriority(constants.priority.PRIORITY_LOW);

serveTasks({
  start({ attack, target }: { attack: Attack; target: Target }) {
    const own = new AbortController();
    setMaxListeners(0, own.signal);
    setTimeout(() => own.abort(), longestMs).unref();
    stopping = own;
    Promise.all(attacks[attack](target)).catch(() => {}); // it ends with `stop`
  },
  stop() {
    stopping.abort();
    for (const socket of sockets) socket.destroy();
  },
});
