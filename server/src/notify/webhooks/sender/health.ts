import type { FailureRule } from '../endpoints/report-health.ts';

export type Health = {
  /** The first failure since the endpoint last succeeded or was enabled; null if there was none. */
  failingSince: Date | null;
  failureCount: number;
};

/** When an endpoint is reported as failing: never later than it would be disabled. */
export function reportRuleOf({ afterMs, minFailures }: FailureRule): FailureRule {
  return { afterMs: Math.min(60_000, afterMs / 10), minFailures: Math.min(3, minFailures) };
}

/** True if an endpoint has failed both long enough and often enough. */
export function shouldDisable({ failingSince, failureCount }: Health, rule: FailureRule, now: Date): boolean {
  if (failingSince === null) return false;
  return now.getTime() - failingSince.getTime() >= rule.afterMs && failureCount >= rule.minFailures;
}

/** The text the endpoint's owner reads. */
export function disabledReason({ failingSince, failureCount }: Health, lastError: string | null): string {
  const since = failingSince?.toISOString().replace(/\.\d+/, '') ?? 'an unknown time';
  return `All ${failureCount} attempts since ${since} failed, the last with ${lastError ?? 'no response'}. Fix the receiver, enable the endpoint, then recover the missed events.`;
}
