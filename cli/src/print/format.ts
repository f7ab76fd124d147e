import type { Product } from '@simplane/sdk';
import type { Colors } from './output.ts';

export const none = '–';

/** Formats in the local time zone. */
export function time(unixSeconds: number | null | undefined): string {
  if (unixSeconds === null || unixSeconds === undefined) return none;
  const at = new Date(unixSeconds * 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(at)}`;
}

export function clock(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** `840 ms`, `2.4 s`, `5 min`, `3 h`, `2 d`: two digits or more are enough to compare. */
export function duration(milliseconds: number): string {
  const steps: [number, string][] = [
    [1, 'ms'],
    [1_000, 's'],
    [60_000, 'min'],
    [3_600_000, 'h'],
    [86_400_000, 'd'],
  ];
  const [size, unit] = steps.findLast(([size]) => milliseconds >= size) ?? [1, 'ms'];
  const count = milliseconds / size;
  return `${count < 10 ? Number(count.toFixed(1)) : Math.round(count)} ${unit}`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytes(count: number | null): string {
  if (count === null) return 'unlimited';
  let power = 0;
  while (power < units.length - 1 && count >= 1000 ** (power + 1)) power++;
  return `${Number((count / 1000 ** power).toFixed(2))} ${units[power]}`;
}

export function price({ amount, currency }: Product['price']): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** The first few words and the number of the rest: `AT BE CH DE +30`. */
export function firstFew(words: readonly string[], shown = 4): string {
  const rest = words.length - shown;
  return rest > 1 ? `${words.slice(0, shown).join(' ')} +${rest}` : words.join(' ');
}

const paints: Record<string, 'green' | 'yellow' | 'red' | 'dim'> = {
  provisioned: 'green',
  active: 'green',
  enabled: 'green',
  succeeded: 'green',
  provisioning: 'yellow',
  queued: 'yellow',
  running: 'yellow',
  pending: 'yellow',
  suspended: 'yellow',
  failed: 'red',
  disabled: 'red',
  terminated: 'dim',
  canceled: 'dim',
};

export function paintStatus(text: string, colors: Colors): string {
  const status = text.trim();
  // Whatever the server calls a status: `constructor` is a property of every object.
  const paint = Object.hasOwn(paints, status) ? paints[status] : undefined;
  return paint ? colors[paint](text) : text;
}
