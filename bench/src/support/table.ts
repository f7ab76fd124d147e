import { meetsGoal, type Result } from './scenario.ts';

export type Measured = Result & { name: string; cpu_stolen_percent: number };

const barWidth = 24;

/** Each bar is the ratio, on a scale where the goal stands at two thirds. */
export function renderTable(results: Measured[]): string {
  const head = ['scenario', 'measured', 'against', 'ratio', 'goal', '', '', 'p50 ms', 'p99 ms', 'stolen'];
  const rows = results.map((result) => {
    const { name, value, unit, ceiling, ratio, goal, p50_ms: p50, p99_ms: p99 } = result;
    return [
      name,
      `${show(value)} ${unit}`,
      `${show(ceiling)}`,
      ratio.toFixed(2),
      goal,
      meetsGoal(result) ? 'met' : 'missed',
      bar(result),
      p50 === undefined ? '' : show(p50),
      p99 === undefined ? '' : show(p99),
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
  return lines.join('\n');
}

function bar({ ratio, goal }: Result): string {
  const bound = Number(goal.replace(/[^\d.]/g, ''));
  const goalAt = Math.round((barWidth * 2) / 3);
  const filled = Math.max(0, Math.min(barWidth, Math.round((ratio / bound) * goalAt)));
  const cells = [...'█'.repeat(filled).padEnd(barWidth, '·')];
  cells[goalAt] = '│';
  return cells.join('');
}

function show(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : String(Math.round(figure * 100) / 100);
}
