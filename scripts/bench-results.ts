/** What `npm run bench` writes, as far as the docs show it. */
export type BenchResults = { commit: string; machine: string; scenarios: BenchScenario[] };

export type BenchScenario = {
  name: string;
  value: number;
  unit: string;
  ceiling: number;
  ratio: number;
  goal: string;
  p50_ms?: number;
  p99_ms?: number;
  rounds: number;
  cpu_stolen_percent: number;
};

/** `≥ 0.85` as a number and a direction. */
export function readGoal(goal: string): { bound: number; isFloor: boolean } {
  return { bound: Number(goal.replace(/[^\d.]/g, '')), isFloor: goal.startsWith('≥') };
}

export function isMet({ ratio, goal }: BenchScenario): boolean {
  const { bound, isFloor } = readGoal(goal);
  return isFloor ? ratio >= bound : ratio <= bound;
}

export function showFigure(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : String(Math.round(figure * 100) / 100);
}
