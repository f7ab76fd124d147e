import { AppError } from '../../platform/app-error.ts';
import type { Clock } from '../../platform/clock.ts';

const maxAheadSeconds = 300;

type MaxAge = { clock: Clock; usageMaxAgeMs: number };

/** Refuses a time that no difference between two clocks explains. Smaller differences are clamped by `observedAt`. */
export function refuseFuture(atSeconds: number, param: string, clock: Clock): void {
  const nowMs = clock.nowMs();
  if (atSeconds * 1000 <= nowMs + maxAheadSeconds * 1000) return;
  const now = Math.floor(nowMs / 1000);
  throw new AppError(
    'parameter_invalid',
    `${param} is more than five minutes ahead: it is ${atSeconds}, and the time is ${now}. Send Unix seconds, and check the clock.`,
    { param },
  );
}

/** Whether usage of this time may have been forgotten, so that it could count twice. */
export function isTooOld(atSeconds: number, { clock, usageMaxAgeMs }: MaxAge): boolean {
  return atSeconds * 1000 < clock.nowMs() - usageMaxAgeMs;
}

/**
 * The time of a report. A time in our future counts as now: otherwise bundles would start in the future, and later attaches would
 * count as older.
 */
export function observedAt(atSeconds: number, nowMs: number): Date {
  return new Date(Math.min(atSeconds * 1000, nowMs));
}

/**
 * The time at which an eSIM was used or attached, as far as its bundles are concerned: never before its order, because a wrong time
 * would end a bundle before it was bought.
 */
export function sinceOrder(at: Date, { created_at }: { created_at: Date }): Date {
  return at < created_at ? created_at : at;
}
