import type { ErrorCode, IdempotencyResult } from '@simplane/contract';

/** Which requests are logged. Each level includes the ones before it. */
export type RequestLogLevel = 'off' | 'errors' | 'writes' | 'all';

/** A request as it is logged. All texts are bounded and free of secrets. */
export type RequestLine = {
  accountUuid: string;
  /** The `Request-Id`. */
  id: string;
  apiKeyUuid: string;
  method: string;
  path: string;
  /** Empty for what is not an operation. */
  operation: string;
  status: number;
  error: { code: ErrorCode; message: string; param: string | undefined } | null;
  durationMs: number;
  idempotency: IdempotencyResult | null;
  createdIds: string[];
  ip: string | null;
};
