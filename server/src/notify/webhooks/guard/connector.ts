import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher, errors, Pool } from 'undici';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { isAllowedAddress } from './is-allowed.ts';
import { AddressRefused, openSocket } from './open-socket.ts';

type Options = {
  /** Covers TCP and TLS together. */
  connectTimeoutMs?: number;
  /** Concurrent connections per origin; unlimited by default. */
  connections?: number;
  /** Trusted certificates in PEM, instead of the system's. */
  ca?: string;
};

/** The remote end of a request's connection; valid from the request's start to its end. */
export type Peer = {
  address(): string;
  bytesRead(): number;
};

export type GuardedRequest = Dispatcher.DispatchOptions & {
  origin: string;
  /** The addresses of the URL's host; not needed for a literal. The connector resolves no names. */
  addresses?: readonly string[];
  onPeer?(peer: Peer): void;
};

// Far more than a webhook receiver needs. Same as Node's default; set explicitly so that no flag raises it.
const maxHeaderSize = 16 * 1024;

/**
 * The HTTP client for webhooks. It connects only to allowed addresses, keeps connections alive, and ignores redirects and proxy
 * environment variables. A request to a forbidden address fails with `AddressRefused`.
 */
export function createGuardedAgent(policy: AddressPolicy, options: Options = {}): Agent {
  const connect = guardedConnector(policy, options);
  const { connections } = options;
  return new Agent({
    factory: (origin) =>
      new Pool(origin, {
        ...(connections !== undefined && { connections }),
        factory: (url) => createGuardedClient(url, connect),
      }),
  });
}

type Connect = (target: buildConnector.Options, addresses: readonly string[]) => Promise<Connected>;
type Connected = { socket: Socket; address: string };

/**
 * Uses one connection with one request at a time. So a new connection always serves the latest request, and the current socket
 * is the one a response arrives on.
 */
function createGuardedClient(origin: URL, connect: Connect): Client {
  let addresses: readonly string[] = [];
  let connected: Connected | null = null;
  const peer: Peer = {
    address: () => connected?.address ?? '',
    bytesRead: () => connected?.socket.bytesRead ?? 0,
  };
  const client = new Client(origin, {
    pipelining: 1,
    maxHeaderSize,
    connect(target, callback) {
      connect(target, addresses).then(
        (connection) => {
          connected = connection;
          callback(null, connection.socket);
        },
        (error: Error) => callback(error, null),
      );
    },
  });
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request: Dispatcher.DispatchOptions & Partial<GuardedRequest>, handler) => {
    addresses = request.addresses ?? [];
    request.onPeer?.(peer);
    return dispatch(request, handler);
  };
  return client;
}

function guardedConnector(policy: AddressPolicy, { connectTimeoutMs = 5_000, ca }: Options): Connect {
  // `rejectUnauthorized` is set explicitly so that no environment variable disables it. The timeout below replaces undici's.
  const startTls = buildConnector({ rejectUnauthorized: true, timeout: 0, ...(ca !== undefined && { ca }) });

  async function connect(
    target: buildConnector.Options,
    resolved: readonly string[],
    signal: AbortSignal,
  ): Promise<Connected> {
    if (target.protocol !== 'https:' && !policy.allowsHttp) {
      throw new AddressRefused('Webhooks are sent only over `https`.');
    }
    const addresses = isIP(target.hostname) ? [target.hostname] : resolved;
    checkAll(target.hostname, addresses, policy);
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
    const socket = await openSocket({ hostname: target.hostname, addresses, port }, policy, signal);
    const address = socket.remoteAddress ?? '';
    return {
      socket: target.protocol === 'https:' ? await secure(target, socket, signal) : socket,
      address,
    };
  }

  function secure(target: buildConnector.Options, socket: Socket, signal: AbortSignal): Promise<Socket> {
    // RFC 6066 section 3: the server name has no trailing dot, and none is sent for a literal address.
    const servername = (target.servername || target.hostname).replace(/\.$/, '');
    return untilAborted(
      new Promise<Socket>((settle, fail) => {
        signal.addEventListener('abort', () => socket.destroy(), { once: true });
        startTls(
          { ...target, ...(!isIP(servername) && { servername }), httpSocket: socket },
          (error, secured) => {
            if (error) fail(error);
            else settle(secured);
          },
        );
      }),
      signal,
    );
  }

  return async (target, addresses) => {
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort(new errors.ConnectTimeoutError(`No connection within ${connectTimeoutMs} ms.`));
    }, connectTimeoutMs);
    try {
      return await connect(target, addresses, deadline.signal);
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * One forbidden address refuses the whole name: whoever controls its DNS chooses the order of addresses, and no real receiver
 * has an internal address next to its public one.
 */
function checkAll(hostname: string, addresses: readonly string[], policy: AddressPolicy): void {
  if (addresses.length === 0) {
    throw Object.assign(new Error(`${hostname} has no address.`), { code: 'ENOTFOUND' });
  }
  for (const address of addresses) {
    const verdict = isAllowedAddress(address, policy);
    if (!verdict.allowed) {
      throw new AddressRefused(`An address of ${hostname} is not allowed: ${verdict.reason}.`, address);
    }
  }
}

/** For a signal that has not fired yet. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((settle, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    work.then(settle, fail);
  });
}
