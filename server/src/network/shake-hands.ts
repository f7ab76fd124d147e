import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';

type Target = {
  /** With `http:` only a TCP connection is opened. */
  url: string;
  tls?: { cert: string; key: string; ca: string | null };
  timeoutMs: number;
};

export type Shaken =
  | { kind: 'ok'; peer: PeerCertificate | null }
  | { kind: 'failed'; peer: PeerCertificate | null; cause: string };

/** Accepts any certificate, so that a bad one can be described. Nothing is sent on this connection. */
export async function shakeHands({ url, tls, timeoutMs }: Target): Promise<Shaken> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const socket = isTls
    ? connectTls({
        host,
        port: Number(port) || 443,
        ...(!isIP(host) && { servername: host }),
        ...(tls && { cert: tls.cert, key: tls.key }),
        ...(tls && tls.ca !== null && { ca: tls.ca }),
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
      })
    : connectTcp({ host, port: Number(port) || 80 });
  const timer = setTimeout(
    () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
    timeoutMs,
  );
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect');
    return isTls ? judge(socket as TLSSocket) : { kind: 'ok', peer: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: 'failed', peer: null, cause: code ?? message };
  } finally {
    clearTimeout(timer);
    socket.on('error', () => {});
    socket.destroy();
  }
}

function judge(socket: TLSSocket): Shaken {
  const peer = socket.getPeerCertificate();
  if (socket.authorized) return { kind: 'ok', peer };
  return { kind: 'failed', peer, cause: String(socket.authorizationError) };
}
