import type { Socket } from 'node:net';
import { hasValidChecksum, hexHashOf, keyPrefix } from '../accounts/api-key-text.ts';
import type { KnownKey } from '../accounts/key-directory.ts';
import { AppError } from '../app-error.ts';
import type { Service } from '../service.ts';
import type { StrangerLimit } from './limit-strangers.ts';

type Refusal = 'api_key_missing' | 'api_key_invalid' | 'api_key_expired' | 'api_key_wrong_mode';

/** The key in an `Authorization` header, good or not. */
export function keyIn(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Who sends this `Authorization` header; at once where the key is remembered. */
export function authenticate(
  service: Service,
  authorization: string | undefined,
  { socket, strangers }: { socket: Socket; strangers: StrangerLimit },
): KnownKey | Promise<KnownKey> {
  const { keys, mode } = service;
  const key = keyIn(authorization);
  if (key === undefined)
    throw refuse('api_key_missing', 'Send your API key as "Authorization: Bearer <API_KEY>".');
  if (key.startsWith(keyPrefix[mode === 'live' ? 'sandbox' : 'live'])) {
    throw refuse(
      'api_key_wrong_mode',
      mode === 'live'
        ? 'This is a live deployment and the key is a test key; use one that begins with sp_live_.'
        : 'This is a sandbox and the key is a live key; use one that begins with sp_test_.',
    );
  }
  const hash = hexHashOf(key);
  const found = keys.recall(hash);
  if (found === undefined) {
    const { remoteAddress } = socket;
    strangers.take(remoteAddress);
    return keys.lookUp(hash).then(
      (known) => {
        if (known) strangers.giveBack(remoteAddress);
        return admit(service, key, known);
      },
      (error) => {
        strangers.giveBack(remoteAddress); // it is not known whether the key is good
        throw error;
      },
    );
  }
  return found instanceof Promise
    ? found.then((known) => admit(service, key, known))
    : admit(service, key, found);
}

/** A key is looked up by its hash first; its form only makes a refusal clearer. */
function admit({ keys, clock, mode }: Service, key: string, known: KnownKey | null): KnownKey {
  if (!known) throw refuse('api_key_invalid', explainUnknown(key, keyPrefix[mode]));
  if (known.revoked) throw refuse('api_key_invalid', 'This API key was revoked.');
  const nowMs = clock.nowMs();
  if (known.expiresAtMs !== null && known.expiresAtMs <= nowMs) {
    throw refuse('api_key_expired', `This API key expired at ${new Date(known.expiresAtMs).toISOString()}.`);
  }
  keys.noteUse(known, nowMs);
  return known;
}

function explainUnknown(key: string, prefix: string): string {
  if (!key.startsWith(prefix)) return `This is not an API key: keys of this deployment begin with ${prefix}.`;
  if (!hasValidChecksum(key))
    return 'No such API key, and its checksum is wrong: was it truncated when it was copied?';
  return 'No such API key in this deployment.';
}

function refuse(code: Refusal, message: string): AppError {
  return new AppError(code, message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
