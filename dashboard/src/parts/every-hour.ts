import type { WebhookEndpointStats } from '@simplane/sdk';

type Hour = { succeeded: number; failed: number };

/** The API lists the hours with attempts, newest first. A chart shows the others too, oldest first. */
export function everyHour(
  { from, hours }: Pick<WebhookEndpointStats, 'from' | 'hours'>,
  nowSeconds: number,
): Hour[] {
  const counted = new Map(hours.map((entry) => [entry.hour, entry]));
  return Array.from({ length: Math.max(1, Math.ceil((nowSeconds - from) / 3_600)) }, (_, index) => {
    const entry = counted.get(from + index * 3_600);
    return { succeeded: entry?.succeeded_count ?? 0, failed: entry?.failed_count ?? 0 };
  });
}
