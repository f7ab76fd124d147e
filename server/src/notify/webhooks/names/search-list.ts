import { hostname as machineName } from 'node:os';

export type SearchList = { domains: string[]; ndots: number };

export const noSearchList: SearchList = { domains: [], ndots: 1 };

// Kubernetes' limit for a pod's DNS settings; each domain costs one more query.
const maxDomains = 32;
const maxNdots = 15;

/** Parses `search`, `domain` and `ndots` of resolv.conf(5). c-ares reads the name servers itself but applies no search list. */
export function parseSearchList(text: string, machine: string = machineName()): SearchList {
  let domains = machine.includes('.') ? [machine.slice(machine.indexOf('.') + 1)] : [];
  let { ndots } = noSearchList;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search') domains = values;
    if (keyword === 'domain') domains = values.slice(0, 1);
    if (keyword !== 'options') continue;
    for (const option of values) {
      const [, given] = /^ndots:(\d+)$/.exec(option) ?? [];
      if (given !== undefined) ndots = Math.min(Number(given), maxNdots);
    }
  }
  return { domains: domains.slice(0, maxDomains), ndots };
}

/** The names to query, in glibc's order: the name itself comes first if it has at least `ndots` dots, otherwise last. */
export function candidatesFor(name: string, { domains, ndots }: SearchList): string[] {
  if (name.endsWith('.')) return [name];
  const dots = name.split('.').length - 1;
  const searched = domains.map((domain) => `${name}.${domain}`.replace(/\.+$/, ''));
  const all = dots >= ndots ? [name, ...searched] : [...searched, name];
  return [...new Set(all)];
}
