/** One server of a connection string. */
export type DatabaseHost = {
  /** For logs and messages: without user and password. */
  label: string;
  /** For this server only, in a form that `pg` understands. */
  connectionString: string;
};

export type DatabaseAddress = {
  /** In the order they are tried. */
  hosts: DatabaseHost[];
  /** `read-write`: a server that accepts writes. `primary`: one that is not in recovery. */
  target: 'read-write' | 'primary';
  /** Per server, not for all of them. */
  connectTimeoutMs: number;
};

/** Says what is wrong with a connection string. Never quotes it, because it contains a password. */
class ConnectionUrlError extends Error {
  override name = 'ConnectionUrlError';
}

const form = /^postgres(?:ql)?:\/\/([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

// A single server may take longer, because there is no other one to try.
const soleTimeoutMs = 5_000;
const eachTimeoutMs = 2_000;

/**
 * Parses `postgresql://user:password@a:5432,b:5432/database?target_session_attrs=read-write` as libpq does. Neither `URL` nor
 * `pg` supports several hosts. The lists may also be in the parameters `host` and `port`.
 */
export function parseConnectionUrl(text: string): DatabaseAddress {
  // `pg` accepts a stray `%` and a space. Encoded here, so that the code below need not handle them.
  const encoded = text.replace(/%(?![0-9a-fA-F]{2})/g, '%25').replaceAll(' ', '%20');
  const [, authority, path = '', query = ''] = form.exec(encoded) ?? [];
  if (authority === undefined) {
    throw new ConnectionUrlError(
      'takes a `postgresql://` URL; write `#`, `/` and `?` in a password as %23, %2F and %3F',
    );
  }
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at + 1);
  const parameters = query.split('&').filter((part) => part !== '');
  const named = new Map(parameters.map((part) => [nameOf(part), decode(part.slice(part.indexOf('=') + 1))]));
  const passedOn = parameters.filter((part) => !handledHere.has(nameOf(part)));

  const hosts = hostPortsOf(authority.slice(at + 1), named).map(({ host, port }) => ({
    label: labelOf(host, port),
    connectionString: `postgresql://${user}${host === '' ? '' : 'localhost'}${path || '/'}?${[
      ...passedOn,
      ...(host === '' ? [] : [`host=${encodeURIComponent(host)}`]),
      `port=${port}`,
    ].join('&')}`,
  }));
  refuseLoadBalancing(named.get('load_balance_hosts'));
  return {
    hosts,
    target: targetOf(named.get('target_session_attrs')),
    connectTimeoutMs: timeoutOf(named.get('connect_timeout'), hosts.length),
  };
}

// Parameters handled here and not passed to `pg`. We set application_name, by which `migrate` recognises our processes.
const handledHere = new Set([
  'host',
  'port',
  'target_session_attrs',
  'load_balance_hosts',
  'connect_timeout',
  'application_name',
]);

type HostPort = { host: string; port: number };

function hostPortsOf(list: string, named: Map<string, string>): HostPort[] {
  const pairs = list.split(',').map(splitPort);
  const hosts = named.get('host')?.split(',') ?? pairs.map(({ host }) => decode(host));
  const ports = named.get('port')?.split(',') ?? pairs.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new ConnectionUrlError(
      `has ${hosts.length} hosts and ${ports.length} ports; give one port, or one per host`,
    );
  }
  return hosts.map((host, index) => ({
    host,
    port: portOf((ports.length === 1 ? ports[0] : ports[index]) ?? ''),
  }));
}

function splitPort(text: string): { host: string; port: string } {
  const [, inBrackets, plain, port] =
    /^(?:\[([0-9a-fA-F:.%a-z]+)\]|([^:[\]]*))(?::([^:]*))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  if (host === undefined) {
    throw new ConnectionUrlError('has an invalid host; put an IPv6 address in brackets');
  }
  return { host, port: port ?? '' };
}

function portOf(text: string): number {
  if (text === '') return 5432;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    throw new ConnectionUrlError(
      'has a port that is not a number from 1 to 65535; write `:` or `@` in a password as %3A or %40',
    );
  }
  return port;
}

function targetOf(value = 'any'): DatabaseAddress['target'] {
  // Simplane needs a writable server, so libpq's default `any` means the same.
  if (value === 'any' || value === 'read-write') return 'read-write';
  if (value === 'primary') return 'primary';
  const known = ['read-only', 'standby', 'prefer-standby'].includes(value) ? `\`${value}\`` : 'this value';
  throw new ConnectionUrlError(
    `has target_session_attrs, which takes \`read-write\`, \`primary\` or \`any\`; ${known} cannot work, because Simplane writes`,
  );
}

function refuseLoadBalancing(value = 'disable'): void {
  if (value === 'disable') return;
  throw new ConnectionUrlError(
    'has load_balance_hosts, which takes only `disable`: hosts are tried in order',
  );
}

function timeoutOf(value: string | undefined, hostCount: number): number {
  if (value === undefined) return hostCount === 1 ? soleTimeoutMs : eachTimeoutMs;
  if (!/^[1-9]\d{0,2}$/.test(value)) {
    throw new ConnectionUrlError('has connect_timeout, which takes seconds from 1 to 999');
  }
  return Number(value) * 1_000;
}

function nameOf(parameter: string): string {
  const end = parameter.indexOf('=');
  return decode(end < 0 ? parameter : parameter.slice(0, end));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConnectionUrlError('has percent-encoding that is not UTF-8; write a literal `%` as %25');
  }
}

function labelOf(host: string, port: number): string {
  if (host === '') return `the default host, port ${port}`;
  if (host.startsWith('/')) return `${host} (port ${port})`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
