import type { Execution } from '@simplane/contract';
import type { AccountEnd, History } from '../history/history.ts';
import { writesOf } from '../history/writes.ts';
import type { Violation } from './violation.ts';

type Decision = { outcome: string; iccid?: string; then?: 'adopt' | 'cancel' };

/**
 * Each order with unknown outcome was decided once. Its profile became one eSIM or was given back, and an order with all its
 * retries gave at most one eSIM.
 */
export function unknownOutcomesAreSettled(history: History): Violation[] {
  const decisions = decisionsOf(history);
  return history.end.flatMap((end) => [
    ...end.executions
      .filter(({ error }) => error?.code === 'outcome_unknown')
      .flatMap((execution) => {
        const made = decisions.get(execution.id) ?? [];
        const [decision] = made;
        if (!decision || made.length > 1) {
          return [{ about: [execution.id], what: `an unknown outcome was decided ${made.length} times` }];
        }
        const what = checkDecision(history, end, execution, decision);
        return what === null ? [] : [{ about: [execution.id, decision.iccid ?? ''], what }];
      }),
    ...end.executions.flatMap((execution) => checkRetry(end, execution)),
  ]);
}

/** The accepted decisions, by execution. */
function decisionsOf(history: History): Map<string, Decision[]> {
  const decisions = new Map<string, Decision[]>();
  for (const { path, status, body } of writesOf(history)) {
    const [, id] = /^\/v1\/operator\/executions\/(\w+)\/resolve$/.exec(path) ?? [];
    if (id && status === 200) decisions.set(id, [...(decisions.get(id) ?? []), body as Decision]);
  }
  return decisions;
}

function checkDecision(
  { calls }: History,
  { executions, esims }: AccountEnd,
  { retried_by: retriedBy }: Execution,
  { iccid, then }: Decision,
): string | null {
  if (then === undefined) return null;
  const isCanceled = calls.some((call) => call.step === 'cancel' && call.iccid === iccid);
  const its = esims.filter((esim) => esim.iccid === iccid);
  if (then === 'cancel') {
    if (its.length > 0) return 'a profile that was to be given back is an eSIM';
    return isCanceled ? null : 'a profile was not given back at the network';
  }
  const next = executions.find(({ id }) => id === retriedBy);
  if (!next) return 'no execution went on with the adopted profile';
  if (next.iccid !== iccid) return `an adopted profile became ${next.iccid}`;
  if (calls.some(({ step, executionId }) => step === 'order' && executionId === next.id)) {
    return 'an adopted profile was ordered again';
  }
  if (next.status === 'succeeded')
    return its.length === 1 ? null : `an adopted profile has ${its.length} eSIMs`;
  return isCanceled ? null : 'an adopted profile failed and was not given back';
}

/** The two name each other, and only a failed execution is retried. */
function checkRetry({ executions }: AccountEnd, { id, retry_of: retryOf }: Execution): Violation[] {
  if (retryOf === undefined) return [];
  const first = executions.find((one) => one.id === retryOf);
  const retries = executions.filter((one) => one.retry_of === retryOf);
  if (first?.status === 'failed' && first.retried_by === id && retries.length === 1) return [];
  return [{ about: [id, retryOf], what: `a ${first?.status} execution has ${retries.length} retries` }];
}
