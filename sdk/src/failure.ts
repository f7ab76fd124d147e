import { type Answer, isRedirect, readJson } from './answer.ts';
import { type ApiError, apiErrorOf, ConnectionError, type SimplaneError } from './errors.ts';
import type { Request } from './prepare-request.ts';
import { isWorthRetrying } from './retry.ts';

/** A failed attempt, and whether another one can succeed. */
type Failure = { error: SimplaneError; isWorthRetrying: boolean; retryAfter: string | null };

export function errorResponse(answer: Answer): Failure {
  const error = apiErrorOf({ ...answer, body: readJson(answer) });
  const retryAfter = answer.headers.get('retry-after');
  const { status, code } = error;
  return { error, retryAfter, isWorthRetrying: isWorthRetrying({ status, code, retryAfter }) };
}

/** Whether the answer says that the request changed nothing. */
export function isRefused(answer: Answer): boolean {
  if (isRedirect(answer)) return true;
  // A proxy may answer 408 for a server that is still at work.
  if (answer.status < 400 || answer.status >= 500 || answer.status === 408) return false;
  return apiErrorOf({ ...answer, body: readJson(answer) }).code !== 'idempotency_in_progress';
}

export function unreachable({ method, path }: Request, cause: unknown): Failure {
  const reason = describe(cause);
  const error = new ConnectionError(
    `${method} ${path} got no response (${reason}). Check that the base URL is correct and the server is running.`,
    { cause },
  );
  return { error, isWorthRetrying: true, retryAfter: null };
}

/** `fetch` puts the reason in the error's cause. */
function describe(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? 'connection lost';
}

export function redirected({ method, path }: Request, { status, headers }: Answer, url: string): ApiError {
  const location = headers.get('location');
  // Only the origin: the rest of the address may be secret.
  const target =
    location !== null && URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : '';
  const how = status === 0 ? '' : ` (HTTP ${status})`;
  const message =
    `${method} ${path} was redirected${target}${how}. The SDK follows no redirect, because another server could then get ` +
    'the API key. Set baseUrl to the address where the API itself answers.';
  return apiErrorOf({ status, headers, body: { error: { message } } });
}
