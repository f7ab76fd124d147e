import { once } from 'node:events';
import { connect } from 'node:net';

export type HttpConnection = {
  /** Sends one whole request and resolves with the status of its answer. */
  send(request: string): Promise<number>;
  close(): void;
};

/**
 * One keep-alive connection, one request at a time, written and read as text. A real client would cost the machine more
 * than the server does, on cores that they share.
 */
export async function openConnection(url: string): Promise<HttpConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let waiting: { resolve(status: number): void; reject(error: Error): void } | null = null;

  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const [, length] = /content-length: (\d+)/i.exec(received) ?? [];
    if (received.length < headEnd + 4 + Number(length)) return;
    const status = Number(received.slice(9, 12));
    const one = waiting;
    if (status >= 400) one?.reject(new Error(received));
    received = '';
    waiting = null;
    one?.resolve(status);
  });
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')));
  socket.on('error', (error) => waiting?.reject(error));

  return {
    send(request) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request, 'latin1');
      });
    },
    close: () => void socket.destroy(),
  };
}

export function postRequest(
  { url, key }: { url: string; key: string },
  path: string,
  body: string,
  idempotencyKey: string | null,
): string {
  const idempotency = idempotencyKey === null ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\n${idempotency}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
