import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Reply } from './client.ts';

export type Connection = {
  socket: Socket;
  /** Everything that has arrived so far. */
  received(): Buffer;
  /** The first complete response; rejects if the connection closes without one. */
  reply(): Promise<Reply>;
  /** Resolves when the connection closes, whichever side closed it. */
  closed: Promise<void>;
};

/** A bare connection, for bytes that no HTTP client would send. `from`: the client's address, such as 127.0.0.2. */
export async function openConnection(url: string, from?: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const address = from === undefined ? {} : { localAddress: from };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, ...address });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => {}); // a reset counts as closed
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const received = () => Buffer.concat(chunks);
  return { socket, received, closed, reply: () => firstReply(socket, received) };
}

/** Sends bytes on a new connection and reads the response. */
export async function exchange(url: string, bytes: string | Uint8Array, from?: string): Promise<Reply> {
  const connection = await openConnection(url, from);
  connection.socket.write(bytes);
  try {
    return await connection.reply();
  } finally {
    connection.socket.destroy();
  }
}

/** The text of a request's head, ready for a body. */
export function head(method: string, path: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** The response at the start of these bytes, or null while it is incomplete. */
export function parseReply(bytes: Buffer): Reply | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = bytes.subarray(end + 4);
  const length = Number(headers.get('content-length') ?? Number.NaN);
  if (Number.isFinite(length) && body.length < length) return null;
  const text = body.subarray(0, Number.isFinite(length) ? length : body.length).toString();
  return { status: Number(statusLine.split(' ')[1]), headers, text, json: parseJson(text) };
}

function firstReply(socket: Socket, received: () => Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const settle = (isOver: boolean) => {
      const reply = parseReply(received());
      if (!reply && !isOver) return;
      socket.off('data', onData).off('close', onClose);
      if (reply) resolve(reply);
      else reject(new Error(`closed after ${received().length} bytes without a complete response`));
    };
    const onData = () => settle(false);
    const onClose = () => settle(true);
    socket.on('data', onData).on('close', onClose);
    settle(socket.closed);
  });
}

export type RawRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | null;
  chunked: boolean;
};

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const timeoutMs = 15_000;

/** One request on a kept-alive connection, with any bytes as its body. Rejects after `timeoutMs`. */
export function send(url: string, { method, path, headers, body, chunked }: RawRequest): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      agent,
      hostname,
      port,
      method,
      path,
      headers: {
        ...headers,
        ...(body &&
          (chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body.length) })),
      },
      signal: AbortSignal.timeout(timeoutMs),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(pairs),
          text,
          json: parseJson(text),
        });
      });
    });
    outgoing.end(body ?? undefined);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
