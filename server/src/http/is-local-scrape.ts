import type { IncomingMessage } from 'node:http';

const loopbackAddress = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

// What Prometheus, curl and browsers send of their own. Any other header may be a proxy's, under whatever name.
const known =
  /^(host|user-agent|accept(-\w+)?|connection|keep-alive|cache-control|pragma|authorization|cookie|referer|dnt|priority|upgrade-insecure-requests|if-\w+(-\w+)?|sec-[\w-]+|x-prometheus-scrape-timeout-seconds)$/;

/**
 * Whether a request comes from this machine and not through something on it: a proxy beside us also connects from loopback,
 * so neither the address nor any header may speak of another client.
 */
export function isLocalScrape({ socket, headers, httpVersion }: IncomingMessage): boolean {
  return (
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackHost.test(headers.host ?? '') &&
    httpVersion === '1.1' && // nginx passes HTTP/1.0 on with our own address as the Host and no header of its own
    Object.keys(headers).every((name) => known.test(name))
  );
}
