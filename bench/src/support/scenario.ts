import type { Deployment } from './deployment.ts';

export type Result = {
  value: number;
  unit: string;
  ceiling: number;
  ratio: number;
  /** Bound for the ratio: `≥ 0.85`, `≤ 2`. */
  goal: string;
  p50_ms?: number;
  p99_ms?: number;
  rounds: number;
  /** Other figures of the same run, without a goal. */
  details?: Record<string, number>;
};

export type Scenario = (deployment: Deployment, progress: (text: string) => void) => Promise<Result>;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function percentile(sorted: number[], fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] as number;
}

export function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
