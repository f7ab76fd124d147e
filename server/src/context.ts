import type { ApiVersion, Scope } from '@simplane/contract';
import type { AppError } from './app-error.ts';
import type { Clock } from './clock.ts';
import type { Database } from './db/database.ts';
import type { Signals } from './db/signals.ts';
import type { Claim } from './idempotency/claim.ts';
import type { Answer } from './idempotency/outcome.ts';
import type { NewUuid } from './ids/uuid-v7.ts';
import type { Keyring } from './secrets/keyring.ts';
import type { AddressPolicy } from './webhooks/guard/policy.ts';

/** The authenticated account and key. `id` is the public id, `uuid` the database's; decoded once. */
export type Caller = {
  account: { id: string; uuid: string; name: string; apiVersion: string };
  apiKey: { id: string; uuid: string; name: string; scopes: Scope[]; last4: string; createdAt: Date };
};

/** The context of every operation. */
export type Context = Caller & {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  mode: 'sandbox' | 'live';
  /** Whether suspend and resume reach a network. */
  hasCore: boolean;
  keyring: Keyring;
  addressPolicy: AddressPolicy;
  /** How many webhook endpoints an account may have. */
  endpointLimit: number;
  apiVersion: ApiVersion;
};

/** A write also gets its claim on the idempotency key, and functions to render its response before it commits. */
export type WriteContext = Context & {
  claim: Claim | null;
  /** `isSecret`: the stored copy is encrypted, because the body contains a secret that is shown only once. */
  render(body: object, options?: { location?: string; isSecret?: boolean }): Answer;
  renderRefusal(error: AppError): Answer;
};
