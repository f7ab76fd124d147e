import { setTimeout as sleep } from 'node:timers/promises';
import type { Credential, Sent } from '../history/history.ts';
import { isAnswer } from '../history/is-answer.ts';
import { HarnessFailure, type RunContext } from '../run-context.ts';

export type Request = {
  account: number;
  /** With the operator's key, about something of the account. */
  isOperator?: boolean;
  /** Instead of the account's own key. */
  credential?: Credential;
  method?: string;
  path: string;
  body?: unknown;
  key?: string | null;
  /** Index of the API process for the first attempt; each retry goes to the next one. */
  at?: number;
  /** The client aborts the first attempt right after sending it. */
  hangsUp?: boolean;
  /** Ends the request early. */
  signal?: AbortSignal;
};

const abortAfterMs = 3;
const retryDelayMs = 40;

/** Retries with the same key, across processes, until there is an answer. Every attempt is recorded in the history. */
export async function send(ctx: RunContext, request: Request): Promise<Sent> {
  for (let attempt = 0; ; attempt++) {
    const timeoutMs = request.hangsUp && attempt === 0 ? abortAfterMs : ctx.answerTimeoutMs;
    const sent = await sendOnce(ctx, { ...request, at: (request.at ?? 0) + attempt }, timeoutMs);
    if (sent && isAnswer(sent)) return sent;
    if (Date.now() > ctx.deadlineMs) {
      const last = sent ? `${sent.status} ${sent.text.slice(0, 200)}` : 'the process was down';
      throw new HarnessFailure(`no answer to ${request.method ?? 'GET'} ${request.path} in time: ${last}`);
    }
    await sleep(retryDelayMs);
  }
}

/** One attempt; null if its process is down, or `signal` ended it. */
export async function sendOnce(
  { deployment, history }: RunContext,
  request: Request,
  timeoutMs: number,
): Promise<Sent | null> {
  const { account, isOperator = false, credential } = request;
  const { method = 'GET', path, body, key = null, at = 0, signal } = request;
  const { apis } = deployment;
  const server = apis[at % apis.length];
  const url = server?.url();
  if (!server || !url) return null;
  const sent: Sent = {
    ...{ account, process: server.name, method, path, body: body ?? null, key, sentMs: Date.now() },
    ...{ answeredMs: 0, status: null, text: '', isReplayed: false, credential: credential?.id ?? null },
  };
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(credential?.headersAt(url) ??
          bearer(isOperator ? deployment.operatorKey : deployment.keys[account])),
        ...(key !== null && { 'idempotency-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    sent.isReplayed = response.headers.get('idempotent-replayed') === 'true';
    sent.text = text;
    sent.status = response.status;
  } catch {
    if (signal?.aborted) return null;
    sent.status = null; // timed out, reset or refused
  }
  sent.answeredMs = Date.now();
  history.sent.push(sent);
  return sent;
}

export function bearer(key = ''): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
