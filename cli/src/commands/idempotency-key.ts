import { Option } from 'commander';

export type WriteOptions = { idempotencyKey?: string };

export function idempotencyKeyOption(): Option {
  return new Option('--idempotency-key <key>', 'makes a repetition of this command the same request');
}

export function keyOf({ idempotencyKey }: WriteOptions): { idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}
