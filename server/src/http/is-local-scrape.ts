import type { IncomingMessage } from 'node:http';

const loopbackAddress = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

// What proxies, load balancers and CDNs add to what they pass on; a scraper on this machine sends none of it.
const forwarding =
  /forward|proxy|(^|-)(via|ip)(-|$)|(client|remote)-?(ip|addr)|^x-(real|original|envoy|cluster|amzn?|azure|arr|appengine|vercel|nf|host|scheme|request-id|b3)(-|$)|^(cf|cdn|fastly|fly|akamai|true)-|^traceparent$|^b3$/;

/**
 * Whether a request comes from this machine and not through something on it: a proxy beside us also connects from loopback,
 * so neither the address nor any header may speak of another client.
 */
export function isLocalScrape({ socket, headers, httpVersion }: IncomingMessage): boolean {
  return (
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackHost.test(headers.host ?? '') &&
    httpVersion === '1.1' && // nginx passes HTTP/1.0 on with our own address as the Host and no header of its own
    !Object.keys(headers).some((name) => forwarding.test(name))
  );
}
