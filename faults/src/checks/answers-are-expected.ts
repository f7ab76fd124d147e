import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** Error codes that a correct client may get while other requests change its eSIMs. */
const refusals = new Set([
  'batch_limit_reached',
  'esim_not_ready',
  'idempotency_in_progress',
  'request_timeout',
  'resource_missing',
  'state_conflict',
  'wrong_cell',
]);

/** What HAProxy answers by itself while a cell is down. */
const routersOwn = /^<html><body><h1>50[234] /;

/** During any fault, a client gets a documented answer: a result, an expected refusal, or `unavailable`. */
export function answersAreExpected({ sent, losesCommits }: History): Violation[] {
  return sent.flatMap(({ method, path, status, text, key, credential }) => {
    if (status === null || status < 300) return [];
    if (status === 401 && credential !== null) return [];
    if (routersOwn.test(text)) return [];
    const code = codeOf(text);
    const isRefusal = refusals.has(code) || (losesCommits && code === 'cursor_expired');
    const isExpected = status === 503 ? code === 'unavailable' : status < 500 && isRefusal;
    return isExpected
      ? []
      : [{ about: [key ?? path], what: `${method} ${path} was answered ${status} ${text.slice(0, 300)}` }];
  });
}

function codeOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { code: string } }).error.code;
  } catch {
    return '';
  }
}
