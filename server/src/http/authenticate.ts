import { cellOfKey, hasValidChecksum, hexHashOf, keyPrefix } from '../accounts/api-key-text.ts';
import type { KnownKey } from '../accounts/key-directory.ts';
import { requireHere } from '../accounts/moves/require-here.ts';
import type { Service } from '../background/service.ts';
import { isInOneOf } from '../platform/addresses/in-networks.ts';
import { AppError } from '../platform/app-error.ts';
import { requireOwnCell } from '../platform/cell.ts';
import type { UnknownKeyLimit } from './unknown-key-limit.ts';

type Refusal =
  | 'api_key_missing'
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_wrong_mode'
  | 'api_key_address_refused';

/** The API key in an `Authorization` header, not yet checked. */
export function keyIn(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Returns the caller for an `Authorization` header, synchronously if the key is cached. */
export function authenticate(
  service: Service,
  authorization: string | undefined,
  { address, unknownKeys }: { address: string; unknownKeys: UnknownKeyLimit },
): KnownKey | Promise<KnownKey> {
  const { keys, mode } = service;
  const key = keyIn(authorization);
  if (key === undefined)
    throw refuse('api_key_missing', 'Send your API key as "Authorization: Bearer <API_KEY>".');
  if (key.startsWith(keyPrefix[mode === 'live' ? 'sandbox' : 'live'])) {
    throw refuse(
      'api_key_wrong_mode',
      mode === 'live'
        ? 'This is a live deployment but the key is a test key; use a key that begins with sp_live_.'
        : 'This is a sandbox but the key is a live key; use a key that begins with sp_test_.',
    );
  }
  const hash = hexHashOf(key);
  const found = keys.recall(hash);
  if (found === undefined) {
    unknownKeys.take(address);
    return keys.lookUp(hash).then(
      (known) => {
        if (known) unknownKeys.refund(address);
        return requireKnown(service, key, known, address);
      },
      (error) => {
        unknownKeys.refund(address); // the lookup failed, so the key may be valid
        throw error;
      },
    );
  }
  return found instanceof Promise
    ? found.then((known) => requireKnown(service, key, known, address))
    : requireKnown(service, key, found, address);
}

/** The lookup by hash decides; the key's format is used only for a clearer error. */
function requireKnown(service: Service, key: string, known: KnownKey | null, address: string): KnownKey {
  if (!known) {
    requireOwnCell(service.cell, cellOfKey(key), 'This API key');
    throw refuse('api_key_invalid', explainUnknown(key, keyPrefix[service.mode]));
  }
  return requireUsable(service, known, address);
}

/** Throws if the key was revoked, has expired, is of an account in another cell, or may not be used from this address. */
export function requireUsable({ keys, clock }: Service, known: KnownKey, address: string): KnownKey {
  if (known.revoked)
    throw refuse(
      'api_key_invalid',
      'This API key was revoked. Use another key, or have an admin of the account create one.',
    );
  if (known.account) requireHere(known.account);
  const nowMs = clock.nowMs();
  if (known.expiresAtMs !== null && known.expiresAtMs <= nowMs) {
    throw refuse(
      'api_key_expired',
      `This API key expired at ${new Date(known.expiresAtMs).toISOString()}. Use another key, or have an admin of the account create one.`,
    );
  }
  if (!mayBeUsedFrom(known, address)) {
    throw refuse(
      'api_key_address_refused',
      `This API key may not be used from ${address}. An admin of the account can add the address to the key’s allowed_cidrs.`,
    );
  }
  keys.noteUse(known, nowMs);
  return known;
}

/** Free for keys without networks. */
export function mayBeUsedFrom({ allowedCidrs }: KnownKey, address: string): boolean {
  return allowedCidrs.length === 0 || isInOneOf(allowedCidrs, address);
}

function explainUnknown(key: string, prefix: string): string {
  if (!key.startsWith(prefix)) return `This is not an API key: this deployment’s keys begin with ${prefix}.`;
  if (!hasValidChecksum(key))
    return 'No such API key, and its checksum is wrong. It may be truncated: copy the whole key.';
  return 'No such API key in this deployment. Check that the key belongs to it.';
}

function refuse(code: Refusal, message: string): AppError {
  return new AppError(code, message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
