import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, errors } from 'undici';
import { AddressRefused } from './address-refused.ts';
import { isAllowedAddress } from './is-allowed.ts';
import { openSocket } from './open-socket.ts';
import type { AddressPolicy } from './policy.ts';
import { addressesOf, type ResolveName, resolveBySystem, sharingQuestions } from './resolve-name.ts';

type Options = {
  /** For the look-up, TCP and TLS together. */
  connectTimeoutMs?: number;
  /** How many at once to one origin; without it as many as there are requests. */
  connections?: number;
  lookup?: ResolveName;
  /** Told of every connection: the host of the URL, and the address that the socket has. */
  onConnected?(host: string, address: string): void;
  /** Certificates to trust instead of the system's, in PEM. */
  ca?: string;
};

/**
 * The HTTP client for webhooks: it connects to allowed addresses only, keeps connections, and follows neither
 * redirects nor a proxy from the environment. Refusals reach the request as `AddressRefused`.
 */
export function createGuardedAgent(policy: AddressPolicy, options: Options = {}): Agent {
  return new Agent({
    connect: guardedConnector(policy, options),
    pipelining: 1,
    ...(options.connections !== undefined && { connections: options.connections }),
  });
}

function guardedConnector(policy: AddressPolicy, options: Options): buildConnector.connector {
  const { connectTimeoutMs = 5_000, lookup = resolveBySystem, ca } = options;
  const resolve = sharingQuestions(lookup);
  // `rejectUnauthorized` is said aloud so that no environment variable turns it off. The timeout is ours.
  const startTls = buildConnector({ rejectUnauthorized: true, timeout: 0, ...(ca !== undefined && { ca }) });

  async function connect(target: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    if (target.protocol !== 'https:' && !policy.allowsHttp) {
      throw new AddressRefused('Webhooks are sent over `https` only.');
    }
    const addresses = await untilAborted(addressesOf(target.hostname, resolve), signal);
    checkAll(target.hostname, addresses, policy);
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
    const socket = await openSocket({ hostname: target.hostname, addresses, port }, policy, signal);
    options.onConnected?.(target.host ?? target.hostname, socket.remoteAddress ?? '');
    return target.protocol === 'https:' ? await secure(target, socket, signal) : socket;
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

  return (target, callback) => {
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort(new errors.ConnectTimeoutError(`Not connected within ${connectTimeoutMs} ms.`));
    }, connectTimeoutMs);
    connect(target, deadline.signal)
      .finally(() => clearTimeout(timer))
      .then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
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
