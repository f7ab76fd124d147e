import { median, type Result, round } from './scenario.ts';

type Sides = { value(): Promise<number>; ceiling(): Promise<number> };
type Options = { rounds: number; unit: string; goal: string; progress(text: string): void };

/**
 * Measures both sides in alternating order, so other load on the machine affects both. The result is the median of the
 * per-round ratios: a slow minute lowers both sides of a round but not its ratio.
 */
export async function alternate(sides: Sides, { rounds, unit, goal, progress }: Options): Promise<Result> {
  const pairs: { value: number; ceiling: number }[] = [];
  for (let i = 1; i <= rounds; i++) {
    const pair = { value: 0, ceiling: 0 };
    const order = i % 2 === 1 ? (['ceiling', 'value'] as const) : (['value', 'ceiling'] as const);
    for (const side of order) pair[side] = await sides[side]();
    pairs.push(pair);
    const { value, ceiling } = pair;
    progress(
      `round ${i} of ${rounds}: ${show(value)} vs. ${show(ceiling)} ${unit}, ${(value / ceiling).toFixed(2)}`,
    );
  }
  return {
    value: round(median(pairs.map(({ value }) => value))),
    unit,
    ceiling: round(median(pairs.map(({ ceiling }) => ceiling))),
    ratio: round(median(pairs.map(({ value, ceiling }) => value / ceiling))),
    goal,
    rounds,
  };
}

function show(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toFixed(2);
}
