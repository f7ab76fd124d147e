import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher, errors, Pool } from 'undici';
import { AddressRefused } from './address-refused.ts';
import { isAllowedAddress } from './is-allowed.ts';
import { openSocket } from './open-socket.ts';
import type { AddressPolicy } from './policy.ts';

type Options = {
  /** For TCP and TLS together. */
  connectTimeoutMs?: number;
  /** How many at once to one origin; without it as many as there are requests. */
  connections?: number;
  /** Certificates to trust instead of the system's, in PEM. */
  ca?: string;
};

/** The other end of the connection that carries a request; valid from the request's start to its end. */
export type Peer = {
  /** The address that the socket is connected to. */
  address(): string;
  bytesRead(): number;
};

/** A request to a guarded agent. */
export type GuardedRequest = Dispatcher.DispatchOptions & {
  origin: string;
  /** What the URL's name resolved to; a literal needs none. The connector looks nothing up. */
  addresses?: readonly string[];
  onPeer?(peer: Peer): void;
};

// Far more than a receiver of webhooks needs. Node's default is the same; said here so that no flag raises it.
const maxHeaderSize = 16 * 1024;

/**
 * The HTTP client for webhooks: it connects to allowed addresses only, keeps connections, and follows neither
 * redirects nor a proxy from the environment. Refusals reach the request as `AddressRefused`.
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
 * One connection at a time, with one request at a time on it. So whatever it connects for is its latest request, and
 * the socket it has while an answer arrives is the one that answers.
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
        (made) => {
          connected = made;
          callback(null, made.socket);
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
  // `rejectUnauthorized` is said aloud so that no environment variable turns it off. The timeout is ours.
  const startTls = buildConnector({ rejectUnauthorized: true, timeout: 0, ...(ca !== undefined && { ca }) });

  async function connect(
    target: buildConnector.Options,
    resolved: readonly string[],
    signal: AbortSignal,
  ): Promise<Connected> {
    if (target.protocol !== 'https:' && !policy.allowsHttp) {
      throw new AddressRefused('Webhooks are sent over `https` only.');
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
    // RFC 6066 section 3: the server's name is sent without a trailing dot. Of a literal nothing is sent.
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
      deadline.abort(new errors.ConnectTimeoutError(`Not connected within ${connectTimeoutMs} ms.`));
    }, connectTimeoutMs);
    try {
      return await connect(target, addresses, deadline.signal);
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * One forbidden answer refuses the name. Which of them would be used is up to whoever answers, and a receiver
 * has no use for an inner address beside its public one.
 */
function checkAll(hostname: string, addresses: readonly string[], policy: AddressPolicy): void {
  if (addresses.length === 0) {
    throw Object.assign(new Error(`${hostname} has no address.`), { code: 'ENOTFOUND' });
  }
  for (const address of addresses) {
    const verdict = isAllowedAddress(address, policy);
    if (!verdict.allowed) {
      throw new AddressRefused(`An address of ${hostname} is refused: ${verdict.why}.`, address);
    }
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((settle, fail) => {
    if (signal.aborted) fail(signal.reason);
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    work.then(settle, fail);
  });
}
