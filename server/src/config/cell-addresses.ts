import { cellOfKey, hasValidChecksum, keyPrefix, type Mode } from '../accounts/api-key-text.ts';
import { isInOneOf, requireCidr } from '../platform/addresses/in-networks.ts';
import { ConfigError } from '../platform/app-error.ts';
import { nameOf } from '../platform/cell.ts';
import type { Peer } from '../platform/cells/peer.ts';

const name = 'SIMPLANE_CELLS';

// The key is sent with every request, so it may cross without TLS only what the operator alone uses.
const withoutTls = [
  '127.0.0.0/8',
  '::1/128',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
].map(requireCidr);

/** The addresses of all cells. Throws with the number of the entry that is wrong, and never repeats a key. */
export function parseCellAddresses(text: string): Peer[] {
  const peers = text
    .split(',')
    .map((entry, index) => parseEntry(entry.trim(), `${name}, entry ${index + 1}`));
  for (const [index, { cell }] of peers.entries()) {
    const first = peers.findIndex((peer) => peer.cell === cell);
    if (first === index) continue;
    throw new ConfigError(
      `${name}: the keys of entries ${first + 1} and ${index + 1} are both of ${nameOf(cell)}; name each cell once`,
    );
  }
  return peers;
}

function parseEntry(entry: string, where: string): Peer {
  if (!URL.canParse(entry))
    throw new ConfigError(`${where} is not a URL such as https://:KEY@10.0.2.10:4000`);
  const url = new URL(entry);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigError(`${where} must begin with https:// or http://`);
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`${where} must have neither a path nor a query`);
  }
  if (url.username !== '' || url.password === '') {
    throw new ConfigError(
      `${where} needs an operator’s key of that cell as its password, without a user: https://:KEY@host`,
    );
  }
  // Generated keys have no character that a URL would encode.
  if (!hasValidChecksum(url.password)) {
    throw new ConfigError(
      `${where}: the password is not a key that \`simplane-server keys create --scopes operator,operator_write\` has made`,
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (url.protocol === 'http:' && host !== 'localhost' && !isInOneOf(withoutTls, host)) {
    throw new ConfigError(`${where}: http is only for loopback and private addresses; use https`);
  }
  return { cell: cellOfKey(url.password), origin: url.origin, key: url.password };
}

/** Throws if a key is for deployments of the other mode, which would refuse it. */
export function requireMode(peers: readonly Peer[], mode: Mode): void {
  const other = peers.findIndex(({ key }) => !key.startsWith(keyPrefix[mode]));
  if (other === -1) return;
  throw new ConfigError(`${name}, entry ${other + 1}: in ${mode} mode, keys begin with ${keyPrefix[mode]}`);
}
