export type Health = {
  /** The first failure since the last success or enabling; null while all is well. */
  failingSince: Date | null;
  failureCount: number;
};

export type DisableRule = { afterMs: number; minFailures: number };

/** Whether an endpoint has failed for so long, and so often, that sending more is of no use. One burst is neither. */
export function shouldDisable({ failingSince, failureCount }: Health, rule: DisableRule, now: Date): boolean {
  if (failingSince === null) return false;
  return now.getTime() - failingSince.getTime() >= rule.afterMs && failureCount >= rule.minFailures;
}

/** What its owner reads: the facts, and what to do. */
export function disabledReason(
  { failingSince, failureCount }: Health,
  last: { statusCode: number | null; error: string | null },
): string {
  const outcome = last.statusCode === null ? (last.error ?? 'no answer') : `the status ${last.statusCode}`;
  const since = failingSince?.toISOString() ?? 'an unknown time';
  return `All of ${failureCount} attempts since ${since} failed, the last with ${outcome}. Fix the receiver, then enable the endpoint and recover what it missed.`;
}
