import { isMet, type Measured, readGoal, showFigure } from '../results.ts';

const barWidth = 24;

/** Each bar shows the ratio, on a scale where the goal is at two thirds. */
export function renderTable(results: Measured[]): string {
  const head = ['scenario', 'measured', 'ceiling', 'ratio', 'goal', '', '', 'p50 ms', 'p99 ms', 'stolen'];
  const rows = results.map((result) => {
    const { name, value, unit, ceiling, ratio, goal, p50_ms: p50, p99_ms: p99 } = result;
    return [
      name,
      `${showFigure(value)} ${unit}`,
      `${showFigure(ceiling)}`,
      ratio.toFixed(2),
      goal,
      isMet(result) ? 'met' : 'missed',
      bar(result),
      p50 === undefined ? '' : showFigure(p50),
      p99 === undefined ? '' : showFigure(p99),
      `${result.cpu_stolen_percent} %`,
    ];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, ...results.flatMap(describeDetails)].join('\n');
}

function describeDetails({ name, details }: Measured): string[] {
  if (!details) return [];
  const figures = Object.entries(details).map(([label, figure]) => `${label} ${showFigure(figure)}`);
  return [`${name}: ${figures.join(', ')}`];
}

function bar({ ratio, goal }: Measured): string {
  const { bound } = readGoal(goal);
  const goalAt = Math.round((barWidth * 2) / 3);
  const filled = Math.max(0, Math.min(barWidth, Math.round((ratio / bound) * goalAt)));
  const cells = [...'█'.repeat(filled).padEnd(barWidth, '·')];
  cells[goalAt] = '│';
  return cells.join('');
}
