import { isIP } from 'node:net';

/** Parses a hosts file (hosts(5)) into addresses by name. */
export function parseHosts(text: string): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!isIP(address)) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      const known = addresses.get(key);
      if (!known) addresses.set(key, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return addresses;
}
