import { type BenchResults, isMet, showFigure } from '@simplane/bench/results';

const [begin, end] = ['<!-- bench:begin -->', '<!-- bench:end -->'];

/** Returns the page with the table between the markers replaced. */
export function performancePage(page: string, results: BenchResults): string {
  const [before, rest = ''] = page.split(begin);
  const [, after] = rest.split(end);
  if (before === undefined || after === undefined)
    throw new Error(`docs/performance.md needs ${begin} and ${end}`);
  return `${before}${begin}\n\n${table(results)}\n\n${end}${after}`;
}

function table({ scenarios, machine, commit }: BenchResults): string {
  const rows = scenarios.map((scenario) => {
    const { name, value, unit, ceiling, ratio, goal, p50_ms: p50, p99_ms: p99, rounds } = scenario;
    const latency = p50 === undefined || p99 === undefined ? '' : `${showFigure(p50)} / ${showFigure(p99)}`;
    const verdict = isMet(scenario) ? 'met' : '**missed**';
    return `| \`${name}\` | ${showFigure(value)} ${unit} | ${showFigure(ceiling)} | **${ratio.toFixed(2)}** | ${goal} | ${verdict} | ${latency} | ${rounds} | ${scenario.cpu_stolen_percent} % |`;
  });
  return `Measured on ${machine}, at ${commit}.

| scenario | measured | ceiling | ratio | goal | result | p50 / p99 ms | rounds | CPU stolen |
|---|---|---|---|---|---|---|---|---|
${[...rows, ...scenarios.flatMap(details)].join('\n')}`;
}

/** One paragraph per scenario, below the table. */
function details({ name, details }: BenchResults['scenarios'][number]): string[] {
  if (!details) return [];
  const figures = Object.entries(details).map(([label, figure]) => `\`${label}\` ${showFigure(figure)}`);
  return [`\n\`${name}\` also: ${figures.join(', ')}.`];
}
