import type { Static, TObject, TSchema } from 'typebox';
import type { AuditAction, AuditTargetType } from './audit-actions.ts';
import type { ErrorCode } from './errors.ts';

/** Scopes of an account's keys. */
export const accountScopes = ['read', 'write', 'network', 'admin', 'install'] as const;

/**
 * `operator` is for keys of the whole deployment, which belong to no account. With `operator_write` such a key may also write for an
 * account. They have no other scope.
 */
export const operatorScopes = ['operator', 'operator_write'] as const;

export const scopes = [...accountScopes, ...operatorScopes] as const;

export type AccountScope = (typeof accountScopes)[number];
export type Scope = (typeof scopes)[number];

/** Scopes included in another: a key that can order an eSIM can install it; a read-only key cannot. */
const includedIn: { readonly [scope in Scope]?: Scope } = { install: 'write' };

export function hasScope(keyScopes: readonly Scope[], needed: Scope): boolean {
  const parent = includedIn[needed];
  return keyScopes.includes(needed) || (parent !== undefined && keyScopes.includes(parent));
}

/** Whether only operators may call it. */
export function isOperators({ scope }: Pick<Operation, 'scope'>): boolean {
  return (operatorScopes as readonly (string | null)[]).includes(scope);
}

/** The wording of docs and messages, with the scope that includes this one. */
export function describeScope(scope: Scope): string {
  const parent = includedIn[scope];
  return `the \`${scope}\` scope${parent === undefined ? '' : ` (included in \`${parent}\`)`}`;
}

/** One API operation. Routes, validation, OpenAPI, clients and audit entries derive from it. */
export type Operation = ReadOperation | WriteOperation;

type ReadOperation = Described & { method: 'GET' };
export type WriteOperation = Described & { method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'; audit: Audit };

/**
 * The audit entry of a write. Unless the operation's function says otherwise, the target's id is the last parameter of the path.
 * If the path has none, it is the id in the answer, or that of the request.
 */
type Audit = { action: AuditAction; target: AuditTargetType };

type Described = {
  /** Parameters are written as in OpenAPI: `{name}`. */
  path: string;
  /** One of `tags`. */
  tag: string;
  summary: string;
  description: string;
  /** Null: any key may call it. */
  scope: Scope | null;
  /** Path parameters. Each has a description and an example. */
  params?: TObject;
  /** Lists, the feed and some deletions declare a query, and it is strict; other operations ignore query parameters. */
  query?: TObject;
  /** `examples[0]` is the request in the docs. */
  body?: TObject;
  /** Overrides the default limit of 256 kB. */
  bodyLimitBytes?: number;
  /** Set on the writes that a suspended account may still make. */
  allowedWhenSuspended?: true;
  status: 200 | 201 | 202;
  /** Another success, which some requests get. */
  alsoReturns?: { status: 200; response: TSchema };
  /** Has a title, a description and an example. */
  response: TSchema;
  /** Shown instead of the example of the response's schema. */
  responseExample?: object;
  /** Image types that `Accept` can request instead of JSON. */
  pictures?: readonly string[];
  /** Other types that `format` or `Accept` can request instead of JSON, to be stored as a file. They are secret. */
  files?: readonly string[];
  /** Whether `Accept: text/event-stream` gets a stream instead of JSON. */
  streams?: true;
  /** Error codes specific to this operation; those common to all are not listed. */
  refusals: readonly ErrorCode[];
};

/** Keeps the definition's literal types, from which `InputOf` and `ResultOf` derive. */
export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

type StaticOr<S, Absent> = S extends TSchema ? Static<S> : Absent;

export type InputOf<O extends Operation> = {
  params: StaticOr<O['params'], Record<string, never>>;
  query: StaticOr<O['query'], Record<string, never>>;
  body: StaticOr<O['body'], Record<string, never>>;
};

export type ResultOf<O extends Operation> = Static<O['response']>;

/** Everything that an operation may return. */
export type AnswerOf<O extends Operation> =
  | ResultOf<O>
  | (O extends { alsoReturns: { response: infer Other extends TSchema } } ? Static<Other> & object : never);

/** Whether a request asks to be checked only. */
export function isDryRun({ body: schema }: Operation, body: { dry_run?: unknown }): boolean {
  return body.dry_run === true && schema?.properties['dry_run'] !== undefined;
}

/** Writes take `Idempotency-Key` and leave an audit entry. */
export function isWrite(definition: Operation): definition is WriteOperation {
  return definition.method !== 'GET';
}
