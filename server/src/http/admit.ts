import {
  currentApiVersion,
  describeScope,
  hasScope,
  isOperators,
  isWrite,
  type Operation,
  operations,
} from '@simplane/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordAudit } from '../accounts/audit/record.ts';
import type { Account } from '../accounts/context.ts';
import { findAccountById } from '../accounts/find.ts';
import type { KnownKey } from '../accounts/key-directory.ts';
import { requireHere, requireUnfrozen } from '../accounts/moves/require-here.ts';
import type { Service } from '../background/service.ts';
import { AppError } from '../platform/app-error.ts';
import { createAccountRateLimiter } from './account-rate-limit.ts';
import { wayOf } from './audit-write.ts';
import { pathForLog } from './path-for-log.ts';
import { pinVersion } from './pin-version.ts';
import { createRateLimiter } from './rate-limit.ts';

/** `admit` decides whether a key may call an operation, and for which account. Throws or rejects if not. */
export function createAdmission(service: Service) {
  const limiter = createRateLimiter({ perSecond: service.rateLimitPerSecond });
  const accountLimiter = createAccountRateLimiter();

  return { admit, takeToken };

  function admit(request: FastifyRequest, reply: FastifyReply, caller: KnownKey): void | Promise<void> {
    request.caller = caller;
    request.account = caller.account;
    reply.headers(takeToken(caller));
    useVersion(request, reply, caller.account);
    const { operation } = request.routeOptions.config;
    if (!caller.account) return admitOperator(request, reply, caller, operation);
    if (request.headers['service-account'] !== undefined) throw accountNotChosen();
    if (!operation) return;
    requireScope(caller, operation);
    requireOpen(caller.account, operation);
  }

  /** An account with a rate of its own shares it among its keys; others have the deployment's, for each key. */
  function takeToken({ account, apiKey }: KnownKey): Record<string, string> {
    const perSecond = account?.limits.requestsPerSecond ?? null;
    return account && perSecond !== null
      ? accountLimiter.take(account.uuid, perSecond)
      : limiter.take(apiKey.uuid);
  }

  /** An operator's key may call the operator's operations, and read what an account can read. */
  function admitOperator(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: KnownKey,
    operation: Operation | undefined,
  ): void | Promise<void> {
    if (operation && isOperators(operation)) return requireScope(caller, operation);
    const wanted = request.headers['service-account'];
    if (wanted === undefined && operation === operations.getMe) return;
    if (!operation || (isWrite(operation) && !mayWrite(request))) throw readOnly();
    if (wanted === undefined) throw accountMissing();
    if (isWrite(operation) && operation.scope === 'admin' && operation !== operations.eraseEsim)
      throw keysOfAccount();
    return actFor(request, reply, operation, String(wanted));
  }

  /** A read leaves its own entry in the account's audit log. A write has one of its own, with the operator's key as the actor. */
  async function actFor(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: Operation,
    id: string,
  ): Promise<void> {
    const account = await findAccountById(service.db, id);
    if (!account) {
      throw new AppError('resource_missing', 'No account has the id in Service-Account.', {
        param: 'Service-Account',
      });
    }
    requireHere(account);
    request.account = account;
    useVersion(request, reply, account);
    if (isWrite(operation)) {
      requireOpen(account, operation);
      return;
    }
    const { caller, id: requestId, ip } = request;
    const { clock, newUuid } = service;
    await recordAudit(
      service.db,
      { clock, newUuid, apiKey: caller?.apiKey ?? null, requestId, ip, via: wayOf(request) },
      {
        accountUuid: account.uuid,
        action: 'account.viewed',
        target: { type: 'account', id: account.id },
        changes: { request: `${request.method} ${pathForLog(request.url)}` },
      },
    );
  }
}

function useVersion(request: FastifyRequest, reply: FastifyReply, account: Account | null): void {
  request.apiVersion = pinVersion(
    request.headers['service-version'],
    account?.apiVersion ?? currentApiVersion,
  );
  reply.header('Service-Version', request.apiVersion);
}

function requireScope({ apiKey: { scopes } }: KnownKey, operation: Operation): void {
  const { scope } = operation;
  if (scope === null || hasScope(scopes, scope)) return;
  const remedy = isOperators(operation)
    ? 'Only an operator’s key has it.'
    : 'An account’s admin creates a key for this with POST /v1/api_keys.';
  throw new AppError(
    'scope_missing',
    `This needs ${describeScope(scope)}; the key has ${scopes.join(', ')}. ${remedy}`,
  );
}

/** A suspended account, and an operator in a closed one, may only read and take away. */
function requireOpen(account: Account, operation: Operation): void {
  const { status } = account;
  if (isWrite(operation)) requireUnfrozen(account);
  if (status === 'active' || !isWrite(operation) || operation.allowedWhenSuspended) return;
  throw new AppError(
    'account_suspended',
    status === 'closed'
      ? 'This account is closed: it can be read and erased, but not written to.'
      : 'The operator has suspended this account: it can read and revoke keys, but not write. Ask the operator why.',
  );
}

function mayWrite({ caller }: FastifyRequest): boolean {
  return caller !== null && caller !== undefined && hasScope(caller.apiKey.scopes, 'operator_write');
}

function readOnly(): AppError {
  return new AppError(
    'scope_missing',
    'This operator’s key can only read in an account. Use a key of the account, or an operator’s key with the scope operator_write: simplane-server keys create --scopes operator,operator_write.',
  );
}

/** A key gives no more than it has, and an operator's key has no scope of an account. */
function keysOfAccount(): AppError {
  return new AppError(
    'scope_missing',
    'An operator manages an account’s keys with the operations under /v1/operator/accounts/{id}/api_keys.',
  );
}

function accountMissing(): AppError {
  return new AppError(
    'scope_missing',
    'An operator’s key belongs to no account. Name the account with the header Service-Account: acct_….',
    { param: 'Service-Account' },
  );
}

function accountNotChosen(): AppError {
  return new AppError(
    'scope_missing',
    'Service-Account is for operators’ keys. This key always acts for its own account: leave the header out.',
    { param: 'Service-Account' },
  );
}
