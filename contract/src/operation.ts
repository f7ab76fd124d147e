import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';

export const scopes = ['read', 'write', 'network', 'admin', 'install'] as const;

export type Scope = (typeof scopes)[number];

/** Scopes that are part of another: who may order an eSIM may install it, who may only look may not. */
const partOf: { readonly [scope in Scope]?: Scope } = { install: 'write' };

/** Whether a key with these scopes may do what needs `needed`. */
export function hasScope(scopesOfKey: readonly Scope[], needed: Scope): boolean {
  const whole = partOf[needed];
  return scopesOfKey.includes(needed) || (whole !== undefined && scopesOfKey.includes(whole));
}

/** As documents and messages say it: the scope, and the one that includes it. */
export function describeScope(scope: Scope): string {
  const whole = partOf[scope];
  return whole === undefined
    ? `the scope \`${scope}\``
    : `the scope \`${scope}\`, which \`${whole}\` includes`;
}

/** One operation of the API: everything that routes, validation, OpenAPI and clients need to know about it. */
export type Operation = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With OpenAPI's `{name}` for parameters. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  scope: Scope;
  params?: TObject;
  /** Only lists declare a query, and it is strict; other operations ignore theirs. */
  query?: TObject;
  body?: TObject;
  /** The most that a body may have, where that is more than the 256 kB of all others. */
  bodyLimitBytes?: number;
  status: 200 | 201 | 202;
  response: TSchema;
  /** Media types besides JSON in which the answer can be had, by `Accept`. */
  pictures?: readonly string[];
  /** What the operation itself may refuse with, beyond what every operation shares. */
  refusals: readonly ErrorCode[];
};

/** Keeps the literal types of a definition, so that inputs and results can be derived from it. */
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

/** Writes take `Idempotency-Key`. */
export function isWrite(definition: Operation): boolean {
  return definition.method !== 'GET';
}
