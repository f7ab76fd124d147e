import type { FastifyRequest } from 'fastify';
import { isInOneOf, requireCidr } from '../platform/addresses/in-networks.ts';
import { parseAddress } from '../platform/addresses/parse-address.ts';

/** More entries than any chain of proxies has. What lies before them is not read. */
const maxHops = 20;

/**
 * Returns a function that sets `request.ip`. That is the socket's address or, behind proxies that are trusted, the last address
 * in `X-Forwarded-For` that is none of them: everything before it may have been sent by the client.
 */
export function createAddressReader(trustedProxies: readonly string[]): (request: FastifyRequest) => void {
  const trusted = trustedProxies.map(requireCidr);
  return (request) => {
    const socketAddress = request.raw.socket.remoteAddress ?? '';
    if (trusted.length === 0) {
      if (isPlain(socketAddress)) return;
      setIp(request, plainAddress(socketAddress) ?? '');
    } else {
      setIp(request, behindProxies(socketAddress, request.headers['x-forwarded-for']));
    }
  };

  function behindProxies(socketAddress: string, forwardedFor: string | string[] | undefined): string {
    let address = plainAddress(socketAddress) ?? '';
    const hops = String(forwardedFor ?? '')
      .split(',')
      .slice(-maxHops);
    while (isInOneOf(trusted, address)) {
      const before = plainAddress(withoutPort(hops.pop() ?? ''));
      if (before === null) break; // none, or no address: the proxy's own is the last that is known
      address = before;
    }
    return address;
  }
}

/** Fastify reads the socket's address from a getter; the request's own property hides it. */
function setIp(request: FastifyRequest, address: string): void {
  Object.defineProperty(request, 'ip', { value: address });
}

/** Almost all socket addresses: neither IPv4 in IPv6 notation nor with a zone. */
function isPlain(address: string): boolean {
  return !address.startsWith('::ffff:') && !address.includes('%');
}

/** Without the zone, which names an interface of this machine, and IPv4 as such. Null if it is no address. */
function plainAddress(text: string): string | null {
  const withoutZone = text.split('%', 1)[0] ?? '';
  const address = parseAddress(withoutZone);
  if (address === null) return null;
  if (address.bits === 128) return withoutZone.toLowerCase();
  return [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn).join('.');
}

/** Some proxies send `203.0.113.7:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, address = ''] =
    /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry.trim())?.filter(Boolean) ?? [];
  return address || entry.trim();
}
