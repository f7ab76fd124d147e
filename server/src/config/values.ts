import { Resolver } from 'node:dns';
import { availableParallelism } from 'node:os';
import { parseCidr } from '../platform/addresses/parse-address.ts';

/** Parses a setting's text. `takes` describes the values `parse` accepts, for errors and the generated docs. */
export type Kind<T> = { takes: string; parse(text: string): T | undefined };

/** One environment variable. An empty fallback means "unset". */
export type Setting<T> = { name: string; kind: Kind<T>; fallback: string; about: string };
export type OptionalSetting<T> = Setting<T> & { fallback: '' };

export function setting<T>(name: string, kind: Kind<T>, fallback: string, about: string): Setting<T> {
  return { name, kind, fallback, about };
}

export function optional<T>(name: string, kind: Kind<T>, about: string): OptionalSetting<T> {
  return { name, kind, fallback: '', about };
}

export function oneOf<const T extends string>(...values: T[]): Kind<T> {
  return {
    takes: values.map((value) => `\`${value}\``).join(', '),
    parse: (text) => values.find((value) => value === text),
  };
}

export function integer(minimum: number, maximum: number): Kind<number> {
  return {
    takes: `a whole number from ${minimum} to ${maximum}`,
    parse: (text) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

const port = integer(0, 65_535);

export const portOrOff: Kind<number | 'off'> = {
  takes: `\`off\`, or ${port.takes}`,
  parse: (text) => (text === 'off' ? text : port.parse(text)),
};

const processCount = integer(1, 64);

export const countOrAuto: Kind<number> = {
  takes: `\`auto\`, or ${processCount.takes}`,
  parse: (text) => (text === 'auto' ? Math.min(availableParallelism(), 64) : processCount.parse(text)),
};

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const duration: Kind<number> = {
  takes: 'a duration such as `500ms`, `5s`, `2h`',
  parse: (text) => {
    const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
    return amount && unit ? Number(amount) * unitMs[unit as keyof typeof unitMs] : undefined;
  },
};

// Node fires a timer with a longer delay at once.
const maxTimerMs = 2 ** 31 - 1;

/** A duration used for a timer: neither zero nor longer than a timer can wait. */
export const timeout: Kind<number> = {
  takes: 'a duration such as `500ms`, `5s`, `2h`, from `1ms` to 24 days',
  parse: (text) => {
    const ms = duration.parse(text);
    return ms !== undefined && ms >= 1 && ms <= maxTimerMs ? ms : undefined;
  },
};

export const durations: Kind<number[]> = {
  takes: 'durations separated by commas, such as `1s,5s,1m`',
  parse: (text) => {
    const values = text.split(',').map((part) => duration.parse(part.trim()));
    return values.every((value) => value !== undefined) ? (values as number[]) : undefined;
  },
};

export function matching(pattern: RegExp, takes: string): Kind<string> {
  return { takes, parse: (text) => (pattern.test(text) ? text : undefined) };
}

export const listenAddress = matching(/^[^\s]+$/, 'an address or host name to listen on');

/** `none` is an explicit empty list, unlike an unset value. */
export const cidrs: Kind<string[]> = {
  takes: '`none`, or networks separated by commas, such as `10.1.0.0/16,fd00:1::/32`',
  parse: (text) => {
    if (text === 'none') return [];
    const given = text.split(',').map((part) => part.trim());
    return given.every((cidr) => parseCidr(cidr) !== null) ? given : undefined;
  },
};

/** DNS server addresses, each with an optional port (default 53). */
export function parseDnsServers(text: string): string[] | undefined {
  const servers = text.split(',').map((part) => part.trim());
  try {
    new Resolver().setServers(servers);
    return servers;
  } catch {
    return undefined;
  }
}

/** `none`, or some of the statuses of a gateway whose upstream is down. */
export function parseGatewayStatuses(text: string): ReadonlySet<number> | undefined {
  if (text === 'none') return new Set();
  const statuses = text.split(',').map((part) => part.trim());
  return statuses.every((status) => /^50[234]$/.test(status)) ? new Set(statuses.map(Number)) : undefined;
}

/** Names in certificates. One that begins with a dot would stand for every name below it. */
export function parseSubjects(text: string): string[] | undefined {
  const names = text.split(',').map((part) => part.trim());
  return names.every((name) => /^[^.\p{C}][^\p{C}]*$/u.test(name)) ? names : undefined;
}

/** An eavesdropper could replay a command while its signature is valid, so only loopback may skip TLS. */
export function parseCoreUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  if (url.protocol === 'https:') return url.href;
  const isLoopback = ['localhost', '[::1]'].includes(url.hostname) || /^127\.[\d.]+$/.test(url.hostname);
  return url.protocol === 'http:' && isLoopback ? url.href : undefined;
}
