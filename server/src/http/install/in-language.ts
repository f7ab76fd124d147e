import type { PageLanguage } from '@simplane/contract';

/** As plans are sold: a GB has 10⁹ bytes. */
const gigabyte = 1e9;

export function bytesIn(language: PageLanguage, bytes: number): string {
  const [amount, unit] = bytes < gigabyte ? [bytes / 1e6, 'MB'] : [bytes / gigabyte, 'GB'];
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(amount)} ${unit}`;
}

export function dateIn(language: PageLanguage, date: Date): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(date);
}
