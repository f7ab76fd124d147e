import { connect, isIPv6, type LookupFunction, type Socket } from 'node:net';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { isAllowedAddress } from './is-allowed.ts';

/** Node's default of 250 ms is too short for distant receivers: all addresses but the last would time out. */
const perAddressTimeoutMs = 1_000;

/**
 * Opens a TCP connection to the first address that accepts one. The caller has checked the addresses; this also checks the
 * address the socket is connected to, before any byte is written.
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
      lookup: lookupReturning(target.addresses),
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
    return Object.assign(new Error('The connection was closed immediately after it opened.'), {
      code: 'ECONNRESET',
    });
  }
  const verdict = isAllowedAddress(address, policy);
  return verdict.allowed
    ? null
    : new AddressRefused(`The connected address is not allowed: ${verdict.reason}.`, address);
}

/** Prevents a second look-up, which could return other addresses. Node asks for all of them, because it tries one after the other. */
function lookupReturning(addresses: readonly string[]): LookupFunction {
  const results = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, _options, callback) => callback(null, results);
}

/** The guard refused an address. Customers may read the message; `address` is for the operator only. */
export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';
  readonly address: string | undefined;

  constructor(message: string, address?: string) {
    super(message);
    this.name = 'AddressRefused';
    this.address = address;
  }
}
