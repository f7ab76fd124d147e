const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, in the largest unit that is still precise. */
export function ago(unixSeconds: number, nowSeconds: number): string {
  const seconds = Math.round(nowSeconds - unixSeconds);
  if (Math.abs(seconds) < 2) return 'now'; // the page's clock may be a second behind the server's
  return seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`;
}

export function span(seconds: number): string {
  if (seconds < minute) return `${Math.round(seconds)} s`;
  if (seconds < hour) return `${Math.round(seconds / minute)} min`;
  if (seconds < 2 * day) return `${Math.round(seconds / hour)} h`;
  return `${Math.round(seconds / day)} d`;
}

/** A duration in milliseconds: 38 ms, 2.4 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  return span(ms / 1_000);
}

/** The exact time in UTC, as `title` shows it. */
export function exact(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString().replace('T', ' ').replace('.000Z', ' UTC');
}

const dateFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** The date in UTC: 16 November 2026. */
export function date(unixSeconds: number): string {
  return dateFormat.format(unixSeconds * 1_000);
}

export function clock(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString().slice(11, 19);
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Decimal units, as data plans are sold. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(2)} ${units[unit]}`;
}

export function number(value: number): string {
  return value.toLocaleString('en');
}

/** The end of an id: UUIDv7 heads look alike all day. */
export function tail(id: string): string {
  const [prefix, rest] = id.split('_', 2);
  if (rest === undefined && id.length > 24) return `…${id.slice(-12)}`;
  return rest === undefined || rest.length < 12 ? id : `${prefix}_…${rest.slice(-7)}`;
}

/** In the currency's own unit: 9.00 EUR, but 900 JPY. */
export function price({ amount, currency }: { amount: number; currency: string }): string {
  const code = currency.toUpperCase();
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
  }).resolvedOptions();
  return `${(amount / 10 ** digits).toFixed(digits)} ${code}`;
}

/** A URL without its scheme, cut with an ellipsis. */
export function shorten(url: string): string {
  const text = url.replace(/^https?:\/\//, '');
  return text.length > 70 ? `${text.slice(0, 70)}…` : text;
}
