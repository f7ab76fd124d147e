import type { Result } from './support/scenario.ts';

/** The file that `npm run bench` writes. */
export type BenchResults = { commit: string; machine: string; scenarios: Measured[] };

export type Measured = Result & { name: string; cpu_stolen_percent: number };

/** Parses `≥ 0.85` or `≤ 2`. */
export function readGoal(goal: string): { bound: number; isFloor: boolean } {
  return { bound: Number(goal.replace(/[^\d.]/g, '')), isFloor: goal.startsWith('≥') };
}

export function isMet({ ratio, goal }: Pick<Result, 'ratio' | 'goal'>): boolean {
  const { bound, isFloor } = readGoal(goal);
  return isFloor ? ratio >= bound : ratio <= bound;
}

export function showFigure(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : String(Math.round(figure * 100) / 100);
}
