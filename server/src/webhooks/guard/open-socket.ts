import { connect, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { AddressRefused } from './address-refused.ts';
import { isAllowedAddress } from './is-allowed.ts';
import type { AddressPolicy } from './policy.ts';

/** Node's 250 ms cut off far receivers, of whose addresses it then only gives the last a real chance. */
const perAddressTimeoutMs = 1_000;

/**
 * A TCP connection to the first of these addresses that answers. Resolves before a byte is written, and only
 * when the address that the socket ended at is allowed too. The caller has checked the addresses.
 */
export function openSocket(
  target: { hostname: string; addresses: readonly string[]; port: number },
  policy: AddressPolicy,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: target.hostname,
      port: target.port,
      lookup: answerWith(target.addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: perAddressTimeoutMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    });
    const abort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const settle = () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', fail);
    };
    const fail = (error: Error) => {
      settle();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      const refusal = refusalOf(socket, policy);
      if (refusal) {
        socket.destroy(refusal);
        return;
      }
      settle();
      resolve(socket);
    });
    if (signal.aborted) abort();
  });
}

function refusalOf(socket: Socket, policy: AddressPolicy): Error | null {
  const address = socket.remoteAddress;
  if (address === undefined) {
    return Object.assign(new Error('The connection was closed as soon as it was made.'), {
      code: 'ECONNRESET',
    });
  }
  const verdict = isAllowedAddress(address, policy);
  return verdict.allowed
    ? null
    : new AddressRefused(`The connected address is refused: ${verdict.why}.`, address);
}

/** In place of a second look-up, which could answer otherwise. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = answers;
    if (options.all || !first) callback(null, answers);
    else callback(null, first.address, first.family);
  };
}
