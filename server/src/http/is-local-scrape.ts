import type { IncomingMessage } from 'node:http';

const loopbackAddress = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

// Headers that Prometheus, curl and browsers send. Any other header may have been added by a proxy.
const clientHeader =
  /^(host|user-agent|accept(-\w+)?|connection|keep-alive|cache-control|pragma|authorization|cookie|referer|dnt|priority|upgrade-insecure-requests|if-\w+(-\w+)?|sec-[\w-]+|x-prometheus-scrape-timeout-seconds)$/;

/**
 * Whether a request comes from this machine directly. A proxy on this machine also connects from loopback,
 * so the Host, the HTTP version and the headers must not look like a proxy's.
 */
export function isLocalScrape({ socket, headers, httpVersion }: IncomingMessage): boolean {
  return (
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackHost.test(headers.host ?? '') &&
    httpVersion === '1.1' && // nginx forwards as HTTP/1.0, with our address as the Host and without extra headers
    Object.keys(headers).every((name) => clientHeader.test(name))
  );
}
