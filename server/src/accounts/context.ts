import type { ApiVersion, AuditWay, Scope } from '@simplane/contract';
import type { CoreMode } from '../network/core-mode.ts';
import type { AddressPolicy } from '../platform/addresses/address-policy.ts';
import type { Cell } from '../platform/cell.ts';
import type { Cells } from '../platform/cells/ask-cells.ts';
import type { Database } from '../platform/db/database.ts';
import type { Announcing } from '../platform/db/signals.ts';
import type { TimeAndIds } from '../platform/ids/uuid-v7.ts';
import type { Keyring } from '../platform/secrets/keyring.ts';
import type { Move } from './moves/is-here.ts';

/** `id` is the public id, `uuid` the database's; decoded once. A null limit is the deployment's. */
export type Account = {
  id: string;
  uuid: string;
  name: string;
  apiVersion: string;
  status: 'active' | 'suspended' | 'closed';
  /** Null while it works here. */
  move: Move | null;
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
};

/** Who changes something: a request, or the server's command line. */
export type Author = Origin & TimeAndIds;

/** The context of an operator's operation: it belongs to no account. */
export type OperatorContext = Author & {
  signals: Announcing['signals'];
  apiKey: ApiKey;
  db: Database;
  mode: 'sandbox' | 'live';
  cell: Cell;
  cells: Pick<Cells, 'others' | 'ask'>;
  /** How the operator's core learns about eSIMs. */
  core: CoreMode;
  /** Whether ICCIDs of the network must have a valid check digit. */
  requiresCheckDigit: boolean;
  keyring: Keyring;
  addressPolicy: AddressPolicy;
  /** How many webhook endpoints an account without a limit of its own may have. */
  endpointLimit: number;
  /** Older usage records are refused, and their hours are forgotten. */
  usageMaxAgeMs: number;
  apiVersion: ApiVersion;
  /** The URL clients use. */
  publicUrl(): string;
  /** Waits until answers that the client's account has not read yet leave room for a large page. */
  waitForRoom(): Promise<void>;
};

/** The context of an account's operation. */
export type Context = OperatorContext & { account: Account };

/** What reading of an account needs, also on the command line. */
export type ReadContext = Pick<Context, 'db' | 'clock' | 'account' | 'usageMaxAgeMs' | 'waitForRoom'>;
