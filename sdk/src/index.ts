export type { BatchWaitOptions } from './batches.ts';
export { defaultBaseUrl, type SimplaneOptions } from './connection.ts';
export { createOperator, type Operator } from './create-operator.ts';
export { createSimplane, type Simplane } from './create-simplane.ts';
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ConsumerInUseError,
  CursorExpiredError,
  ExecutionFailedError,
  IdempotencyError,
  InvalidRequestError,
  PermissionError,
  RateLimitError,
  ServerError,
  SignatureVerificationError,
  type SignatureVerificationReason,
  SimplaneError,
  TimeoutError,
} from './errors.ts';
export type { FeedPage, OperatorWebhookEvent } from './feed.ts';
export type { FollowedEvents, FollowOptions } from './follow-events.ts';
export type * from './generated.ts';
export type { EventHandler } from './handle-page.ts';
export type { HookRequest, HookResponse } from './hooks.ts';
export type { List } from './list.ts';
export type { RawRequest } from './request.ts';
export type { RunOptions } from './run-consumer.ts';
export type { CallOptions } from './transport.ts';
export type { WaitOptions } from './wait.ts';
export {
  type RawBody,
  type SignatureHeader,
  type VerifyOptions,
  type WebhookEvent,
  webhooks,
} from './webhooks.ts';
