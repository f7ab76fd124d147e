import { median, type Result, round } from './scenario.ts';

type Sides = { value(): Promise<number>; ceiling(): Promise<number> };
type Options = { rounds: number; unit: string; goal: string; progress(what: string): void };

/**
 * Measures both sides in turns, the first one changing, so that what else the machine does meets both. The ratio is the
 * median of the rounds' own ratios: a slow minute lowers both sides of its rounds, and no ratio.
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
      `round ${i} of ${rounds}: ${show(value)} against ${show(ceiling)} ${unit}, ${(value / ceiling).toFixed(2)}`,
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
