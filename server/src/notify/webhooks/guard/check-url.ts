import { isIP } from 'node:net';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { clip } from '../../../platform/telemetry/clip.ts';
import { isAllowedAddress } from './is-allowed.ts';

type Checked = { ok: true; url: string } | { ok: false; reason: string };

/**
 * Checks whether an endpoint may use this URL; returns it normalized as the HTTP client reads it, without a fragment.
 * Resolves no names: the result would tell a tenant about the operator's own network.
 */
export function checkUrl(text: string, policy: AddressPolicy): Checked {
  const url = URL.canParse(text) ? new URL(text) : null;
  const schemes = policy.allowsHttp ? '`https` and `http`' : '`https`';
  if (lacksScheme.test(text)) {
    const start = policy.allowsHttp ? '`http://` or `https://`' : '`https://`';
    return refused(`“${clip(text)}” has no scheme: start it with ${start}.`);
  }
  if (!url) return refused(`“${clip(text)}” is not a URL; ${schemes} URLs with a host are allowed.`);
  if (url.protocol !== 'https:' && !(policy.allowsHttp && url.protocol === 'http:')) {
    return refused(`\`${clip(url.protocol.slice(0, -1))}\` URLs are not allowed; ${schemes} URLs are.`);
  }
  if (url.username !== '' || url.password !== '') {
    return refused('A user name or password in the URL is not allowed; deliveries are signed instead.');
  }
  if (url.port === '0') return refused('Port 0 is not allowed; use a port from 1 to 65535.');
  url.hash = '';

  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const address = fixedAddressOf(hostname);
  const verdict = address === null ? null : isAllowedAddress(address, policy);
  if (verdict && !verdict.allowed) return refused(`${clip(hostname)} is not allowed: ${verdict.reason}.`);
  return { ok: true, url: url.href };
}

// A host, perhaps with a port. A URL parser takes `localhost:3000/hook` for a URL of the scheme `localhost`.
const lacksScheme = /^[\w-]+(\.[\w-]+)*(:\d{1,5})?([/?#]|$)/;

function refused(reason: string): Checked {
  return { ok: false, reason };
}

const metadataName = /^(metadata\.(google\.internal|goog|azure\.internal)|instance-data\.ec2\.internal)$/;

/** The address of a host that is the same on every network: a literal, localhost, or a cloud's metadata server. */
function fixedAddressOf(hostname: string): string | null {
  if (isIP(hostname)) return hostname;
  if (isLocalhostName(hostname)) return '127.0.0.1';
  return metadataName.test(hostname.replace(/\.$/, '')) ? '169.254.169.254' : null;
}

/** RFC 6761 section 6.3: these names are loopback and are never looked up. */
export function isLocalhostName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}
