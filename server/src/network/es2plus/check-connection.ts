import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

type Options = { url: string; tls: { cert: string; key: string; ca: string | null }; timeoutMs: number };

export type ConnectionCheck =
  | { kind: 'ok'; peerEndsAt: Date; protocol: string }
  | { kind: 'failed'; says: string };

/**
 * A handshake with our certificate and one harmless request. With TLS 1.3 a peer rejects a certificate only after the
 * client has finished the handshake, so a handshake alone would not prove that ours is accepted.
 */
export async function checkConnection({ url, tls, timeoutMs }: Options): Promise<ConnectionCheck> {
  const { hostname, port, host, pathname } = new URL(url);
  const name = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    host: name,
    port: Number(port) || 443,
    ...(!isIP(name) && { servername: name }),
    cert: tls.cert,
    key: tls.key,
    ...(tls.ca !== null && { ca: tls.ca }),
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    timeout: timeoutMs,
  });
  socket.on('timeout', () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    await once(socket, 'secureConnect');
  } catch (error) {
    return failed(host, 'the handshake failed', error);
  }
  const peerEndsAt = new Date(socket.getPeerCertificate().valid_to);
  try {
    await exchange(socket, host, pathname);
    return { kind: 'ok', peerEndsAt, protocol: socket.getProtocol() ?? 'TLS' };
  } catch (error) {
    return failed(
      host,
      'it closed the connection after the handshake; it probably does not accept SIMPLANE_ES2_CERT',
      error,
    );
  } finally {
    socket.destroy();
  }
}

async function exchange(socket: TLSSocket, host: string, path: string): Promise<void> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const answered = once(socket, 'data');
  const ended = once(socket, 'close').then(() => {
    throw new Error('the connection was closed');
  });
  ended.catch(() => {});
  await Promise.race([answered, ended]);
}

function failed(host: string, what: string, error: unknown): ConnectionCheck {
  const { code, message } = error as NodeJS.ErrnoException;
  return { kind: 'failed', says: `${host}: ${what} (${code ?? message})` };
}
