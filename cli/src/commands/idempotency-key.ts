import { Option } from 'commander';

export type WriteOptions = { idempotencyKey?: string };

export function idempotencyKeyOption(): Option {
  return new Option('--idempotency-key <key>', 'run the command only once, even if repeated with this key');
}

export function keyOf({ idempotencyKey }: WriteOptions): { idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}
