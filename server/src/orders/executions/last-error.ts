import type { ExecutionErrorCode } from '@simplane/contract';
import type { Refusal } from '../../network/port.ts';
import { describeCause } from '../../platform/telemetry/describe-cause.ts';

/** The last error of an execution as the operator sees it: with hosts and settings, which accounts must not see. */
export type LastError = {
  /** The step whose call failed; null if none was made. */
  step: string | null;
  code: ExecutionErrorCode;
  message: string;
  upstream?: Record<string, string>;
  /** The host that was called. */
  network?: string;
  /** Unix time in milliseconds. */
  at: number;
};

/** Stored in the execution's progress. */
export type WithLastError = { last_error?: LastError };

export function lastErrorOf(step: string, reason: Refusal, nowMs: number): LastError {
  const { code, message, upstream, detail = message, host } = reason;
  return {
    step,
    code,
    message: detail,
    ...(upstream && { upstream }),
    ...(host !== undefined && { network: host }),
    at: nowMs,
  };
}

/** An error of ours. The message of a database error is left out, because it quotes values. */
export function internalCause(error: unknown, nowMs: number): LastError {
  const { type, message, code } = (describeCause(error) ?? {}) as Record<string, string | undefined>;
  const cause = [type, code, message].filter((part) => part !== undefined).join(': ');
  return { step: null, code: 'internal', message: cause, at: nowMs };
}

/** The part of the progress that a failed execution keeps even if no statement has stored it yet. */
export function notedError({ last_error }: WithLastError): WithLastError {
  return last_error ? { last_error } : {};
}
