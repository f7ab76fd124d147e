import { readFile } from 'node:fs/promises';
import { parser } from '@prometheus-io/lezer-promql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import { provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { until } from '../support/until.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');

type Query = { owner: string; expr: string };
type Rule = { alert: string; expr: string; labels: { severity: string } };
type Panel = { title: string; type: string; targets?: { expr: string }[]; gridPos: Record<string, number> };

// Prometheus adds these to every series.
const scrapeLabels = ['job', 'instance'];

let database: { url: string; drop(): Promise<void> };
let server: ServerProcess;
/** What a process with the default settings serves. */
let served: string;
const key = 'sp_test_is_watched_by_prometheus';
beforeAll(async () => {
  database = await cloneDatabase();
  server = await spawnServer({ DATABASE_URL: database.url, SIMPLANE_API_KEY: key });
  await provision({ url: server.url, key });
  served = await server.metrics();
});
afterAll(async () => {
  expect(await server.end('SIGTERM')).toBe(0);
  await database.drop();
});

async function alerts(): Promise<Rule[]> {
  return parse(await read('deploy/prometheus/alerts.yaml')).groups[0].rules;
}

async function panels(): Promise<Panel[]> {
  return JSON.parse(await read('deploy/grafana/simplane.json')).panels;
}

/** Grafana replaces its variables before it asks Prometheus. */
function fillIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'simplane');
}

async function allQueries(): Promise<Query[]> {
  const ofAlerts = (await alerts()).map(({ alert, expr }) => ({ owner: alert, expr }));
  const ofPanels = (await panels()).flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ owner: title, expr: fillIn(expr) })),
  );
  return [...ofAlerts, ...ofPanels];
}

type Selector = { metric: string; matchers: { label: string; op: string; value: string }[] };

/** Reads an expression with Prometheus' own grammar. */
function readExpression(expr: string) {
  const selectors: Selector[] = [];
  const groupedBy: string[] = [];
  const errors: string[] = [];
  parser.parse(expr).iterate({
    enter({ name, type, from, to, node }) {
      const text = expr.slice(from, to);
      if (type.isError) errors.push(`at ${from}: ${expr.slice(from)}`);
      if (name === 'VectorSelector') {
        const metric = node.getChild('Identifier');
        selectors.push({ metric: expr.slice(metric?.from, metric?.to), matchers: [] });
      }
      if (name === 'UnquotedLabelMatcher') {
        const [, label = '', op = '', value = ''] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(text) ?? [];
        selectors.at(-1)?.matchers.push({ label, op, value });
      }
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') groupedBy.push(text);
    },
  });
  return { selectors, groupedBy, errors };
}

function baseOf(metric: string): string {
  return metric.replace(/_(bucket|count|sum)$/, (suffix) =>
    served.includes(`# TYPE ${metric} `) ? suffix : '',
  );
}

function labelsOf(metric: string): string[] {
  const { registry } = createMetrics({ pool: {} } as Parameters<typeof createMetrics>[0]);
  const found = registry.getSingleMetric(baseOf(metric)) as unknown as { labelNames: string[] } | undefined;
  return [...(found?.labelNames ?? []), 'le', ...scrapeLabels];
}

describe('every query of the alerts and of the dashboard', () => {
  test('is valid PromQL', async () => {
    const queries = await allQueries();
    expect(queries.length).toBeGreaterThan(30);
    for (const { owner, expr } of queries) expect(readExpression(expr).errors, owner).toEqual([]);
    expect(readExpression('sum(up').errors, 'the check can fail').not.toEqual([]);
  });

  test('uses metrics that a process serves, with labels and values they have', async () => {
    for (const { owner, expr } of await allQueries()) {
      const { selectors, groupedBy } = readExpression(expr);
      expect(selectors.length, owner).toBeGreaterThan(0);
      for (const { metric, matchers } of selectors) {
        if (metric === 'up') continue;
        expect(served, owner).toContain(`# TYPE ${baseOf(metric)} `);
        const labels = labelsOf(metric);
        expect(labels, owner).toEqual(
          expect.arrayContaining([...matchers.map(({ label }) => label), ...groupedBy]),
        );
        for (const { label, op, value } of matchers) {
          if (op !== '=' || scrapeLabels.includes(label)) continue;
          const series = new RegExp(`^${metric}\\{[^}]*\\b${label}="${value}"`, 'm');
          expect(served, `${owner}: ${label}="${value}"`).toMatch(series);
        }
      }
    }
  });
});

test('counters that alerts compare over time start at 0, so that the first failure is seen', () => {
  for (const type of ['esim.provision', 'esim.terminate', 'bundle.add']) {
    for (const outcome of ['failed', 'postponed']) {
      expect(served).toContain(`simplane_executions_total{execution_type="${type}",outcome="${outcome}"} 0`);
    }
  }
  expect(served).toContain('simplane_http_errors_total{error_type="internal"} 0');
});

test('every alert has a severity and is explained in the operations guide', async () => {
  const guide = await read('docs/operations.md');
  for (const { alert, labels } of await alerts()) {
    expect(['page', 'ticket'], alert).toContain(labels.severity);
    expect(guide).toContain(`\`${alert}\``);
  }
});

test('the dashboard shows every metric, in panels that do not overlap', async () => {
  const all = await panels();
  const shown = all.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
  const { registry } = createMetrics({ pool: {} } as Parameters<typeof createMetrics>[0]);
  for (const { name } of registry.getMetricsAsArray()) expect(shown).toContain(name);
  const cells = all.flatMap(({ gridPos: { x = 0, y = 0, w = 0, h = 0 } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

test('every line that the request log lost is counted', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('alter table request_log rename to request_log_away');
  await client.end();
  await Promise.all(Array.from({ length: 40 }, () => provision({ url: server.url, key })));
  const lost = async () =>
    Number(/^simplane_request_log_dropped_total (\d+)$/m.exec(await server.metrics())?.[1]);
  await until(lost, (count) => count >= 40);
});
