import { once } from 'node:events';
import { connect } from 'node:net';

export type HttpConnection = {
  /** Sends one request and resolves with the response status. */
  send(request: string): Promise<number>;
  close(): void;
};

/**
 * One keep-alive connection, one request at a time, written and read as text. A full HTTP client would use more CPU than
 * the server, on cores that they share.
 */
export async function openConnection(url: string): Promise<HttpConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let pending: { resolve(status: number): void; reject(error: Error): void } | null = null;

  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const [, length] = /content-length: (\d+)/i.exec(received) ?? [];
    if (received.length < headEnd + 4 + Number(length)) return;
    const status = Number(received.slice(9, 12));
    const current = pending;
    if (status >= 400) current?.reject(new Error(received));
    received = '';
    pending = null;
    current?.resolve(status);
  });
  socket.on('close', () => pending?.reject(new Error('the server closed the connection')));
  socket.on('error', (error) => pending?.reject(error));

  return {
    send(request) {
      return new Promise((resolve, reject) => {
        pending = { resolve, reject };
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
