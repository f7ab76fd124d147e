import { type BenchResults, isMet, type Measured, readGoal, showFigure } from '@simplane/bench/results';

const width = 920;
const left = 236; // start of the bars
const right = 688; // end of the bars
const rowHeight = 46;
const barHeight = 18;
// The same goal position in every row, so one vertical line marks them all.
const goalX = left + (right - left) * 0.62;

const ink = '#1c2430';
const grey = '#67717f';
const met = '#14857a';
const missed = '#d2781e';
const font = `font-family="Inter, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"`;

/** Draws each scenario's ratio as a bar, scaled to its goal. */
export function benchPlot({ scenarios, machine, commit }: BenchResults): string {
  const panels = [
    { title: 'Minimum: longer is better', rows: scenarios.filter(({ goal }) => readGoal(goal).isFloor) },
    {
      title: 'Maximum: shorter is better',
      rows: scenarios.filter(({ goal }) => !readGoal(goal).isFloor),
    },
  ].filter(({ rows }) => rows.length > 0);
  let y = 78;
  const parts: string[] = [];
  for (const { title, rows } of panels) {
    parts.push(panel(title, rows, y));
    y += 34 + rows.length * rowHeight + 22;
  }
  const height = y + 22;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${font} role="img" aria-label="Benchmarks as ratios to their ceilings, against their goals">
<rect width="${width}" height="${height}" rx="14" fill="#fbfaf7"/>
${text(32, 42, 'Simplane compared to its ceilings', { size: 20, weight: 650 })}
${text(32, 62, 'Each ratio compares to a ceiling measured in the same run, in alternating rounds. The dashed line is the goal.', { size: 12, fill: grey })}
${parts.join('\n')}
${text(32, height - 20, `${machine} · ${commit}`, { size: 11, fill: grey })}
</svg>
`;
}

function panel(title: string, rows: Measured[], top: number): string {
  const first = top + 34;
  const bottom = first + rows.length * rowHeight - 8;
  return [
    text(32, top + 16, title, { size: 12, weight: 600, fill: grey }),
    `<line x1="32" y1="${top + 25}" x2="${width - 32}" y2="${top + 25}" stroke="#e4e0d6"/>`,
    ...rows.map((row, index) => bar(row, first + index * rowHeight)),
    `<line x1="${goalX}" y1="${first - 4}" x2="${goalX}" y2="${bottom}" stroke="${ink}" stroke-width="1.5" stroke-dasharray="3 3"/>`,
  ].join('\n');
}

function bar(scenario: Measured, y: number): string {
  const { name, value, unit, ceiling, ratio, goal } = scenario;
  const color = isMet(scenario) ? met : missed;
  const scaled = ratio / readGoal(goal).bound;
  const barLength = Math.min(right - left, (goalX - left) * scaled);
  const isCut = (goalX - left) * scaled > right - left;
  const middle = y + 10;
  return [
    text(32, y + 9, name, { size: 14, weight: 600 }),
    text(32, y + 25, `${showFigure(value)} vs. ${showFigure(ceiling)} ${unit}`, { size: 11, fill: grey }),
    `<rect x="${left}" y="${middle - barHeight / 2}" width="${right - left}" height="${barHeight}" rx="4" fill="#efece4"/>`,
    `<rect x="${left}" y="${middle - barHeight / 2}" width="${barLength.toFixed(1)}" height="${barHeight}" rx="4" fill="${color}"/>`,
    ...(isCut ? [text(right - 14, middle + 4, '»', { size: 13, weight: 700, fill: '#fff' })] : []),
    text(right + 22, middle + 6, `${ratio.toFixed(2)}×`, { size: 16, weight: 650, fill: color }),
    text(right + 92, middle + 5, `goal ${goal}`, { size: 12, fill: grey }),
    text(width - 54, middle + 5, isMet(scenario) ? '✓' : '', { size: 14, weight: 700, fill: met }),
  ].join('\n');
}

type TextStyle = { size: number; weight?: number; fill?: string };

function text(x: number, y: number, content: string, { size, weight = 400, fill = ink }: TextStyle): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}">${escaped}</text>`;
}
