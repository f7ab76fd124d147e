import type { Scope } from '@simplane/contract';
import { AppError } from '../platform/app-error.ts';
import type { Mode } from './api-key-text.ts';

/** In live, `network` reports usage of every account's eSIMs, so only the operator gives it. */
export function requireTenantScopes(mode: Mode, added: readonly Scope[]): void {
  if (mode !== 'live' || !added.includes('network')) return;
  throw new AppError(
    'scope_missing',
    'In live mode only the operator gives a key the `network` scope, because it reports usage for every account. Ask the operator for such a key: it creates and rolls them.',
    { param: 'scopes' },
  );
}
