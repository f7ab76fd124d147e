import type { Deployment } from './deployment.ts';

export type Result = {
  value: number;
  unit: string;
  ceiling: number;
  ratio: number;
  goal: string;
  rounds: number;
};

export type Scenario = (deployment: Deployment, progress: (what: string) => void) => Promise<Result>;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
