import type { OperatorOverview } from '@simplane/contract';
import { listEndpointHealth } from '../notify/webhooks/endpoints/list-for-operator.ts';
import { listIccidRanges } from '../orders/esims/list-iccid-ranges.ts';
import { readOverview } from '../views/overview/get-for-operator.ts';
import { listProcesses } from '../views/processes/list.ts';
import { listNetworks } from '../views/processes/list-networks.ts';
import { allPages } from './all-pages.ts';
import { type Format, isoTime, printJson, printList, table } from './print.ts';
import type { Tools } from './with-database.ts';

// Commands that show the state of a running deployment. With `--json` they print the answers of the operator's API.

export async function overviewCommand(tools: Tools, options: Format): Promise<void> {
  const overview = await readOverview(tools);
  if (options.json) printJson(overview);
  else process.stdout.write(tablesOf(overview));
}

export async function processesCommand(tools: Tools, options: Format): Promise<void> {
  const processes = await allPages((query) => listProcesses(tools, { params: {}, query, body: {} }));
  printList(processes, options, ({ id, role, version, host, pid, since, last_seen_at, clock_skew_ms }) => ({
    id,
    role,
    version,
    host,
    pid,
    since: isoTime(since),
    last_seen: isoTime(last_seen_at),
    clock_skew_ms,
  }));
}

export async function networksCommand(tools: Tools, options: Format): Promise<void> {
  const networks = await allPages((query) => listNetworks(tools, { params: {}, query, body: {} }));
  printList(networks, options, (network) => ({
    kind: network.kind,
    host: network.host,
    reachable: network.reachable,
    paused: network.paused,
    latency_ms: network.latency_ms,
    certificate_ends: isoTime(network.certificate_ends_at),
    last_error: network.last_error?.message ?? null,
  }));
}

export async function stockCommand(tools: Tools, options: Format): Promise<void> {
  const ranges = await allPages((query) => listIccidRanges(tools, { params: {}, query, body: {} }));
  printList(ranges, options, ({ object: _, ...range }) => range);
}

export async function failingEndpointsCommand(tools: Tools, options: Format): Promise<void> {
  const endpoints = await allPages((query) =>
    listEndpointHealth(tools, { params: {}, query: { ...query, failing: true }, body: {} }),
  );
  printList(endpoints, options, (endpoint) => ({
    id: endpoint.id,
    account: endpoint.account_id,
    url: endpoint.url,
    status: endpoint.status,
    failing_since: isoTime(endpoint.failing_since),
    failures: endpoint.failure_count,
    backlog: endpoint.backlog.count,
    backlog_age_s: endpoint.backlog.age_seconds,
    last_error: endpoint.last_error,
  }));
}

function tablesOf({ rates, backlogs, clocks_off, funnel, failures }: OperatorOverview): string {
  const named = <Value extends object>(values: Record<string, Value>, name: string) =>
    Object.entries(values).map(([key, value]) => ({ [name]: key, ...value }));
  return [
    table(named(rates, 'rate')),
    table(named(backlogs, 'backlog')),
    ...(clocks_off.length === 0 ? [] : [table(clocks_off)]),
    table(funnel.map((stage) => ({ ...stage, stage: `${stage.stage} (last day)` }))),
    table(failures.map(({ stage, code, count }) => ({ failure: code, not: stage, count }))),
  ].join('\n');
}
