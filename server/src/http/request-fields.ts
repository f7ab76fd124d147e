import { type ApiVersion, currentApiVersion, type Operation } from '@simplane/contract';
import type { FastifyInstance } from 'fastify';
import type { Account } from '../accounts/context.ts';
import type { KnownKey } from '../accounts/key-directory.ts';
import type { AppError } from '../platform/app-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: KnownKey | null;
    /** The account the request is for: the key's own, or the one an operator reads. */
    account: Account | null;
    /** For a request from the dashboard: the hash of its session's token, and that of the key it stands for. */
    session: { hash: Buffer; keyHash: string } | null;
    apiVersion: ApiVersion;
    refusal: AppError | null;
    idempotency: 'fresh' | 'replayed' | null;
    /** The body of a write's response, before it was stored. */
    rendered: object | null;
    /** The stored refusal that a repeated request got, as JSON. */
    storedError: string | null;
    startedMs: number;
    /** When a stream was opened, or a request began to wait for events: the client chose the rest of its duration. */
    heldFromMs: number | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** Set on a route that is not an operation but requires a key. */
    needsKey?: true;
    /** Set on the routes that answer 405 with this `Allow` header. */
    allow?: string;
  }
}

/** Declared at the start, so that all requests have one shape. */
export function addRequestFields(app: FastifyInstance): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('account', null);
  app.decorateRequest('session', null);
  app.decorateRequest('apiVersion', currentApiVersion);
  app.decorateRequest('refusal', null);
  app.decorateRequest('idempotency', null);
  app.decorateRequest('rendered', null);
  app.decorateRequest('storedError', null);
  app.decorateRequest('startedMs', 0);
  app.decorateRequest('heldFromMs', null);
  app.decorateRequest('heldBody', null);
  app.decorateRequest('hasEnded', false);
}
