import type { PageLanguage } from '@simplane/contract';

const gigabyte = 1024 ** 3;

export function bytesIn(language: PageLanguage, bytes: number): string {
  const [amount, unit] = bytes < gigabyte ? [bytes / 1024 ** 2, 'MB'] : [bytes / gigabyte, 'GB'];
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(amount)} ${unit}`;
}

export function dateIn(language: PageLanguage, date: Date): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(date);
}
