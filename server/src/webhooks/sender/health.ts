export type Health = {
  /** The first failure since the endpoint last succeeded or was enabled; null if there was none. */
  failingSince: Date | null;
  failureCount: number;
};

export type DisableRule = { afterMs: number; minFailures: number };

/** True if an endpoint has failed both long enough and often enough, so one burst of failures never disables it. */
export function shouldDisable({ failingSince, failureCount }: Health, rule: DisableRule, now: Date): boolean {
  if (failingSince === null) return false;
  return now.getTime() - failingSince.getTime() >= rule.afterMs && failureCount >= rule.minFailures;
}

/** The text the endpoint's owner reads. */
export function disabledReason(
  { failingSince, failureCount }: Health,
  last: { statusCode: number | null; error: string | null },
): string {
  const outcome = last.statusCode === null ? (last.error ?? 'no response') : `status ${last.statusCode}`;
  const since = failingSince?.toISOString() ?? 'an unknown time';
  return `All ${failureCount} attempts since ${since} failed, the last with ${outcome}. Fix the receiver, enable the endpoint, then recover the missed events.`;
}
