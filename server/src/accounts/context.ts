import type { ApiVersion, AuditWay, Scope } from '@simplane/contract';
import type { AddressPolicy } from '../platform/addresses/address-policy.ts';
import type { AppError } from '../platform/app-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Signals } from '../platform/db/signals.ts';
import type { Claim } from '../platform/idempotency/claim.ts';
import type { Answer } from '../platform/idempotency/outcome.ts';
import type { NewUuid } from '../platform/ids/uuid-v7.ts';
import type { Keyring } from '../platform/secrets/keyring.ts';

/** `id` is the public id, `uuid` the database's; decoded once. A null limit is the deployment's. */
export type Account = {
  id: string;
  uuid: string;
  name: string;
  apiVersion: string;
  status: 'active' | 'suspended';
  limits: {
    webhookEndpoints: number | null;
    openExecutions: number | null;
    requestsPerSecond: number | null;
  };
};

export type ApiKey = {
  id: string;
  uuid: string;
  name: string;
  scopes: Scope[];
  last4: string;
  createdAt: Date;
};

/** Where a change comes from, as the audit log shows it. */
export type Origin = {
  /** Null for the server's command line, and for a refused sign-in with an unknown key. */
  apiKey: ApiKey | null;
  requestId: string | null;
  /** The client's address. */
  ip: string | null;
  /** How it reached the server. */
  via?: AuditWay;
  /** Counts the entries in the audit log: every write has at least one. */
  audits?: { count: number };
};

/** The context of an operator's operation: it belongs to no account. */
export type OperatorContext = Origin & {
  apiKey: ApiKey;
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Pick<Signals, 'announce'>;
  mode: 'sandbox' | 'live';
  /** Whether suspend and resume reach a network. */
  hasCore: boolean;
  keyring: Keyring;
  addressPolicy: AddressPolicy;
  /** How many webhook endpoints an account without a limit of its own may have. */
  endpointLimit: number;
  /** Older usage records are refused, and their hours are forgotten. */
  usageMaxAgeMs: number;
  apiVersion: ApiVersion;
  /** Waits until answers that the client's account has not read yet leave room for a large page. */
  waitForRoom(): Promise<void>;
};

/** The context of an account's operation. */
export type Context = OperatorContext & { account: Account };

/** A write also gets its claim on the idempotency key, and functions to render its response before it commits. */
export type WriteContext = Context & WriteParts;

/** The write of an operator. Its idempotency keys have the nil UUID in the place of an account's. */
export type OperatorWriteContext = OperatorContext & WriteParts & { account: { uuid: string } };

type WriteParts = {
  claim: Claim | null;
  /** `isSecret`: the stored copy is encrypted, because the body contains a secret that is shown only once. */
  render(body: object, options?: { location?: string; isSecret?: boolean }): Answer;
  renderRefusal(error: AppError): Answer;
  /** Details for the audit entry that the operation declares. Null: nothing was changed, so there is no entry. */
  describe(changes: Record<string, unknown> | null): void;
  /** Runs in the transaction of the write, after its work: writes its audit entry. */
  afterWork(tx: Queryable): Promise<void>;
  /** Runs before a stored answer with a secret is sent again; `body` is the answer. */
  onSecretShownAgain(tx: Queryable, body: string): Promise<void>;
};
