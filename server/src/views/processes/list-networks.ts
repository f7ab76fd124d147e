import { type InputFor, idPrefixes, type Network } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import type { ReportRow } from '../../platform/processes/read-reports.ts';
import { readReports } from '../../platform/processes/read-reports.ts';
import type { NetworkReport } from '../../platform/processes/report.ts';

/** The systems that the running processes call, each once, however many processes call it. */
export async function listNetworks({ db }: Pick<OperatorContext, 'db'>, { query }: InputFor<'listNetworks'>) {
  const networks = combine(await readReports(db));
  return readPage(query, {
    scope: { list: 'networks', accountId: '', filters: {} },
    read: async (after, count) => {
      const start = after === null ? 0 : networks.findIndex((network) => keyOf(network) > after);
      return start === -1 ? [] : networks.slice(start, start + count);
    },
    positionOf: (network: Network) => keyOf(network),
    positionPattern: /^(smdp|core|mock) \S*$/,
    present: (network) => network,
  });
}

function keyOf({ kind, host }: Pick<Network, 'kind' | 'host'>): string {
  return `${kind} ${host ?? ''}`;
}

type View = NetworkReport & { processId: string; seenAt: Date };

function combine(rows: ReportRow[]): Network[] {
  const views = new Map<string, View[]>();
  for (const { id, seen_at: seenAt, report } of rows) {
    for (const network of report.networks ?? []) {
      const key = keyOf(network);
      const view = { ...network, processId: idOfUuid(idPrefixes.process, id), seenAt };
      views.set(key, [...(views.get(key) ?? []), view]);
    }
  }
  const own = endsOf(
    rows.flatMap(({ report }) => report.certificates ?? []).map(({ setting, ends_at }) => [setting, ends_at]),
  );
  return [...views].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ofOne]) => combineViews(ofOne, own));
}

function combineViews(views: View[], ownCertificates: Network['certificates']): Network {
  const [{ kind, host }] = views as [View];
  const tried = views.filter(({ reachable }) => reachable !== null);
  const unreachable = tried.filter(({ reachable }) => !reachable);
  const errors = views.flatMap(({ last_error: error, seenAt }) =>
    error ? [{ message: error.message, at: ago(seenAt, error.ms_ago) }] : [],
  );
  const peerEnds = views.flatMap(({ peer_ends_at: end }) => (end === null ? [] : [['peer', end] as const]));
  const certificates = [...(kind === 'smdp' ? ownCertificates : []), ...endsOf(peerEnds)];
  return {
    object: 'network',
    kind,
    host,
    reachable: tried.length === 0 ? null : unreachable.length === 0,
    unreachable_from: unreachable.map(({ processId }) => processId),
    paused: views.some(({ paused }) => paused),
    latency_ms: highest(views.map(({ latency_ms }) => latency_ms)),
    checked_at: highest(views.map(({ tried_ms_ago: ms, seenAt }) => (ms === null ? null : ago(seenAt, ms)))),
    last_error: errors.toSorted((a, b) => b.at - a.at)[0] ?? null,
    certificate_ends_at:
      certificates.length === 0 ? null : Math.min(...certificates.map((one) => one.ends_at)),
    certificates,
  };
}

/** The earliest end of each. */
function endsOf(certificates: (readonly [name: string, endsAt: string])[]): Network['certificates'] {
  const ends = new Map<string, number>();
  for (const [name, text] of certificates) {
    const endsAt = unixSeconds(new Date(text));
    ends.set(name, Math.min(ends.get(name) ?? endsAt, endsAt));
  }
  return [...ends].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, ends_at]) => ({ name, ends_at }));
}

/** By the database's clock: reports have ages, and the heartbeat has its time. */
function ago(seenAt: Date, ms: number): number {
  return unixSeconds(new Date(seenAt.getTime() - ms));
}

function highest(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
