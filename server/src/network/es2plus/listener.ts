import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { NotificationMap } from '../notification-map.ts';
import type { Observation, ObservationSource } from '../port.ts';
import { explainBrokenHandshake, findRefusal } from './explain-refusal.ts';
import { es2Functions } from './functions.ts';
import { readRequest } from './messages.ts';
import { observationOf } from './notifications.ts';

type Options = {
  host: string;
  port: number;
  tls: ListenerTls;
  /** Names of the certificates that are accepted; null accepts every one of the authority. */
  subjects: readonly string[] | null;
  protocolVersion: string;
  notificationMap: NotificationMap;
  now(): Date;
  /** Called for every notification and every rejected connection. `details` has no secrets. */
  onEvent(outcome: NotificationOutcome, details: object): void;
  onListening?(port: number): void;
};

type ListenerTls = { cert: string; key: string; clientCa: string };

export type Es2Listener = ObservationSource & {
  /** New connections use these certificates. Connections that are idle are closed, so that they are checked again. */
  renew(tls: ListenerTls): void;
};

export type NotificationOutcome =
  | 'applied'
  | 'ignored'
  | 'unknown_iccid'
  | 'malformed'
  | 'failed'
  | 'turned_away';

const { path } = es2Functions.handleDownloadProgressInfo;
const maxBytes = 64 * 1024;

/**
 * Receives an SM-DP+'s download notifications (ES2+.HandleDownloadProgressInfo, SGP.22 §5.3.5). A client without a
 * certificate of the configured authority, with one of the listed names, gets no answer at all.
 */
export function createEs2Listener(options: Options): Es2Listener {
  let { tls } = options;
  let listening: Server | null = null;

  return {
    renew(next) {
      listening?.setSecureContext(contextOf(next));
      tls = next;
      listening?.closeIdleConnections();
    },

    async start(take) {
      const server = createServer(
        {
          ...contextOf(tls),
          requestCert: true,
          // Checked by `findRefusal` instead: Node would close the connection without saying whose it was.
          rejectUnauthorized: false,
          handshakeTimeout: 10_000,
          maxHeaderSize: 16 * 1024,
          headersTimeout: 10_000,
          requestTimeout: 15_000,
          connectionsCheckingInterval: 1_000,
          keepAliveTimeout: 60_000,
        },
        (request, response) => {
          serve(request, response, take).catch((error: unknown) => {
            options.onEvent('failed', { error: (error as Error).message });
            answer(response, 500, { reasonCode: '4.2', message: 'It was not stored; send it again.' });
          });
        },
      );
      server.maxConnections = 1_000;
      // Before the HTTP parser gets the connection, so no request on it is ever read.
      server.prependListener('secureConnection', (socket: TLSSocket) => {
        const refusal = findRefusal(socket, options.subjects);
        if (!refusal) return;
        options.onEvent('turned_away', refusal);
        socket.destroy();
      });
      server.on('tlsClientError', (error, socket: TLSSocket) => {
        const { code = error.name } = error as NodeJS.ErrnoException;
        const from = socket.remoteAddress ?? 'gone';
        options.onEvent('turned_away', { from, cause: explainBrokenHandshake(code), error: code });
      });
      await new Promise<void>((resolve, reject) => {
        server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
          const where = `${options.host}:${options.port}`;
          reject(new Error(`SIMPLANE_ES2_LISTEN_PORT: cannot listen on ${where}: ${code ?? message}`));
        });
        server.listen(options.port, options.host, resolve);
      });
      // Later errors are connections that could not be accepted, e.g. without a free file descriptor: keep listening.
      server.on('error', ({ code, message }: NodeJS.ErrnoException) => {
        options.onEvent('turned_away', { error: code ?? message });
      });
      listening = server;
      options.onListening?.((server.address() as AddressInfo).port);
      return {
        stop: (timeoutMs) =>
          new Promise((resolve) => {
            const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
            server.close(() => {
              clearTimeout(timer);
              resolve();
            });
            server.closeIdleConnections();
          }),
      };
    },
  };

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    take: (observation: Observation) => Promise<boolean>,
  ): Promise<void> {
    if (request.url?.split('?')[0] !== path) return answer(response, 404, wrongFunction);
    if (request.method !== 'POST') return answer(response.setHeader('allow', 'POST'), 405, wrongFunction);
    const body = await readBody(request);
    if (body === null) return answer(response.setHeader('connection', 'close'), 413, tooLarge);
    const read = readRequest('handleDownloadProgressInfo', parse(body));
    if ('why' in read) {
      options.onEvent('malformed', { why: read.why });
      return answer(response, 400, { reasonCode: read.isMissing ? '2.2' : '2.1', message: read.why });
    }
    const { iccid, notificationPointId } = read.fields;
    const details = { iccid, notification_point_id: notificationPointId };
    const observation = observationOf(read.fields, options.notificationMap, options.now());
    const isKnown = observation && (await take(observation));
    options.onEvent(observation ? (isKnown ? 'applied' : 'unknown_iccid') : 'ignored', details);
    response.writeHead(204, protocolHeader()).end();
  }

  /** An error in the format of SGP.22 §6.5.1.4; subject 1.6 is the function. */
  function answer(
    response: ServerResponse,
    status: number,
    { reasonCode, message }: { reasonCode: string; message: string },
  ): void {
    if (response.headersSent || response.destroyed) return;
    const statusCodeData = { subjectCode: '1.6', reasonCode, message };
    const body = { header: { functionExecutionStatus: { status: 'Failed', statusCodeData } } };
    response.writeHead(status, { ...protocolHeader(), 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  function protocolHeader() {
    return { 'x-admin-protocol': `gsma/rsp/v${options.protocolVersion}` };
  }
}

function contextOf({ cert, key, clientCa }: ListenerTls) {
  // Without session tickets every connection shows its certificate: Node 20 trusts a resumed session that never had one.
  const secureOptions = constants.SSL_OP_NO_TICKET;
  return { cert, key, ca: clientCa, minVersion: 'TLSv1.2', secureOptions } as const;
}

const wrongFunction = { reasonCode: '3.1', message: `Only POST ${path} is served here.` };
const tooLarge = { reasonCode: '2.1', message: `The body has more than ${maxBytes} bytes.` };

/** Null if the body is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
