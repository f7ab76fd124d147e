import { type ErrorBody, errors } from '@simplane/contract';
import { AppError } from '../platform/app-error.ts';
import { isUnavailable } from '../platform/db/unavailable.ts';

export type RenderedError = { status: number; headers: Record<string, string>; body: string };

export function renderError(error: AppError, requestId: string, publicUrl: string): RenderedError {
  const { type, status } = errors[error.code];
  const body: ErrorBody = {
    error: {
      type,
      code: error.code,
      message: error.message,
      ...(error.param !== undefined && { param: error.param }),
      ...(error.cursor !== undefined && { cursor: error.cursor }),
      ...(error.cell !== undefined && { cell: error.cell }),
      doc_url: `${publicUrl}/docs#error-${error.code}`,
      request_id: requestId,
    },
  };
  return { status, headers: error.headers, body: JSON.stringify(body) };
}

/** Converts anything thrown to an error with a public message; the original stays in `cause`, for the log. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const framework = fromFramework((thrown as { code?: string } | null | undefined)?.code);
  if (framework) return framework;
  if (isUnavailable(thrown)) {
    return new AppError('unavailable', 'The service is unavailable at the moment; retry shortly.', {
      cause: thrown,
      headers: { 'Retry-After': '1' },
    });
  }
  return new AppError(
    'internal',
    'An internal error occurred. Retry with the same Idempotency-Key; if it persists, report the request id.',
    {
      cause: thrown,
    },
  );
}

function fromFramework(code: string | undefined): AppError | null {
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError(
        'content_type_unsupported',
        'Send the body as JSON, with "Content-Type: application/json".',
      );
    case 'FST_ERR_BAD_URL':
      return new AppError(
        'request_malformed',
        'The path contains invalid percent-encoding; write a literal “%” as %25.',
      );
    default:
      return null;
  }
}
