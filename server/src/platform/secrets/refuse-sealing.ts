import { AppError } from '../app-error.ts';
import { describeMissingKeys } from './claim-sealing-key.ts';
import type { Keyring } from './keyring.ts';

/** For a process without a key that stored secrets need: it opens what it can, and seals nothing with its unrecorded key. */
export function refuseSealing(keyring: Keyring, missingKeys: string[]): Keyring {
  return {
    ...keyring,
    seal() {
      throw new AppError(
        'unavailable',
        'Secrets cannot be stored at the moment; retry shortly. If it persists, tell the operator.',
        {
          cause: new Error(describeMissingKeys(missingKeys)),
          headers: { 'Retry-After': '1' },
        },
      );
    },
  };
}
