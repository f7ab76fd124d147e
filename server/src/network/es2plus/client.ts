import { buildConnector, Client, type Dispatcher, errors, Pool } from 'undici';
import { isRefusingAlert } from './refusing-alert.ts';

export type ClientOptions = {
  /** Base URL of the functions' paths: an origin, optionally with a prefix. */
  url: string;
  tls: { cert: string; key: string; ca: string | null };
  /** The `x.y.z` of `X-Admin-Protocol: gsma/rsp/vx.y.z` (SGP.22 §6.5.1.1). */
  protocolVersion: string;
  connectTimeoutMs: number;
};

/**
 * The outcome of a POST. `isUnsent`: it surely had no effect, since no connection was established or the peer rejected our
 * certificate. `error` is for the log, `why` for people.
 */
type Posted =
  | { kind: 'answered'; status: number; json: unknown }
  | { kind: 'unanswered'; why: Why; isUnsent: boolean; error: string };

export type Why =
  | 'timeout'
  | 'connection'
  | 'peer-certificate'
  | 'own-certificate'
  | 'too-large'
  | 'not-json';

export type Es2Client = {
  host: string;
  /** `isFresh`: uses a new connection, which the peer cannot have closed while it was idle. */
  post(path: string, body: string, options: { signal: AbortSignal; isFresh: boolean }): Promise<Posted>;
  close(): Promise<void>;
};

const maxBytes = 64 * 1024;

/** JSON over mutual TLS, with keep-alive and limits on time and size. Redirects are never followed. */
export function createEs2Client({ url, tls, protocolVersion, connectTimeoutMs }: ClientOptions): Es2Client {
  const { origin, host, pathname } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const connect = buildConnector({
    cert: tls.cert,
    key: tls.key,
    ...(tls.ca !== null && { ca: tls.ca }),
    rejectUnauthorized: true, // explicit, so that no environment variable can turn it off
    minVersion: 'TLSv1.2', // SGP.22 §2.6.3
    timeout: connectTimeoutMs,
  });
  const bounds = { maxResponseSize: maxBytes, maxHeaderSize: 16 * 1024 };
  const unconnected = new WeakSet<Error>();
  const alerts = new WeakMap<Error, Error>();
  const kept = new Pool(origin, {
    ...bounds,
    pipelining: 1,
    connect: watching(connect, alerts, { onError: (error) => unconnected.add(error) }),
  });
  const headers = {
    'content-type': 'application/json',
    'x-admin-protocol': `gsma/rsp/v${protocolVersion}`,
    'user-agent': 'Simplane',
  };

  async function postKept(request: Request): Promise<Posted> {
    const isAborted = request.signal.aborted;
    try {
      return await readAnswer(await kept.request(request));
    } catch (error) {
      const isUnsent = isAborted || unconnected.has(error as Error);
      return explain(alerts.get(error as Error) ?? (error as Error), request.signal, isUnsent);
    }
  }

  /** Without a connection nothing was sent, even if the call timed out. */
  async function postFresh(request: Request): Promise<Posted> {
    let isConnected = false;
    const onConnected = () => {
      isConnected = true;
    };
    const client = new Client(origin, {
      ...bounds,
      pipelining: 0,
      connect: watching(connect, alerts, { onConnected }),
    });
    try {
      return await readAnswer(await client.request(request));
    } catch (error) {
      return explain(alerts.get(error as Error) ?? (error as Error), request.signal, !isConnected);
    } finally {
      await client.destroy();
    }
  }

  return {
    host,
    post(path, body, { signal, isFresh }) {
      const request = { method: 'POST', path: prefix + path, headers, body, signal } as const;
      return isFresh ? postFresh(request) : postKept(request);
    },
    close: () => kept.destroy(),
  };
}

type Request = Parameters<Pool['request']>[0] & { signal: AbortSignal };

/**
 * With TLS 1.3 the peer's refusal of our certificate arrives after the handshake, and undici then reports only that the connection
 * was closed. `alerts` has the refusal for that error.
 */
function watching(
  connect: buildConnector.connector,
  alerts: WeakMap<Error, Error>,
  on: { onConnected?(): void; onError?(error: Error): void },
): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error) {
        on.onError?.(error);
        callback(error, null);
      } else {
        on.onConnected?.();
        let alert: Error | null = null;
        socket?.on('error', (seen: Error) => {
          if (isRefusingAlert(codeOf(seen))) alert = seen;
          else if (alert) alerts.set(seen, alert);
        });
        callback(null, socket as NonNullable<typeof socket>);
      }
    });
}

async function readAnswer(response: Dispatcher.ResponseData<unknown>): Promise<Posted> {
  const text = await response.body.text();
  const status = response.statusCode;
  if (status !== 200) return { kind: 'answered', status, json: null };
  try {
    return { kind: 'answered', status, json: JSON.parse(text) };
  } catch {
    return { kind: 'unanswered', why: 'not-json', isUnsent: false, error: 'the body is not JSON' };
  }
}

function explain(error: Error, signal: AbortSignal, isUnsent: boolean): Posted {
  const code = codeOf(error);
  const shown = `${code}: ${error.message}`;
  if (isPeerCertificate(code))
    return { kind: 'unanswered', why: 'peer-certificate', isUnsent: true, error: shown };
  if (isRefusingAlert(code)) {
    return { kind: 'unanswered', why: 'own-certificate', isUnsent: true, error: shown };
  }
  return { kind: 'unanswered', why: whyOf(error, signal), isUnsent, error: shown };
}

function whyOf(error: Error, signal: AbortSignal): Why {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'too-large';
  const isTimeout =
    signal.aborted ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError;
  return isTimeout ? 'timeout' : 'connection';
}

function isPeerCertificate(code: string): boolean {
  return !code.startsWith('ERR_SSL_') && /CERT|VERIFY_LEAF|INVALID_CA|HOSTNAME_MISMATCH/.test(code);
}

function codeOf(error: Error): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].find((each) => typeof each === 'string') ?? error.name;
}
