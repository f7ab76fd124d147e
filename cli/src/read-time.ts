import { InvalidArgumentError } from 'commander';

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `2h` (ago), `2026-11-15T08:00:00Z`, `2026-11-15` or Unix seconds into Unix seconds. */
export function readTime(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count && unit) return Math.floor(Date.now() / 1000) - Number(count) * (unitSeconds[unit] ?? 1);
  if (/^\d{9,12}$/.test(text)) return Number(text);
  const atMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw new InvalidArgumentError('Must be a time such as 2h (ago), 2026-11-15T08:00:00Z or 1794700000.');
  }
  return Math.floor(atMs / 1000);
}

/** Parses `30s`, `5m`, `2h` or a plain number of seconds into seconds. */
export function readDuration(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,7})([smhd]?)$/.exec(text) ?? [];
  if (!count) throw new InvalidArgumentError('Must be a duration such as 30s, 5m or 2h.');
  return Number(count) * (unitSeconds[unit || 's'] ?? 1);
}
