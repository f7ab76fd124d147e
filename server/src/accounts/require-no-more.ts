import { hasScope, type Scope } from '@simplane/contract';
import { isWithinOneOf, requireCidr } from '../platform/addresses/in-networks.ts';
import { AppError } from '../platform/app-error.ts';
import type { ApiKeyRow } from './sql/keys.ts';

/** What a key can do, where from and until when. */
export type Powers = Pick<ApiKeyRow, 'scopes' | 'expires_at' | 'allowed_cidrs'>;

/** A key creates, changes and rolls only keys that have no more than itself; otherwise no limit of a key would hold. */
export function requireNoMore(maker: Powers, wanted: Powers): void {
  requireScopes(maker, wanted.scopes);
  if (!endsInTime(maker, wanted)) {
    throw new AppError(
      'api_key_settings_refused',
      `The key you use expires at ${maker.expires_at?.toISOString()}, and manages only keys that expire no later. Choose an earlier expires_at (left out, a new key gets yours), use a key that lasts longer, or ask the operator.`,
      { param: 'expires_at' },
    );
  }
  if (!isInNetworks(maker, wanted)) {
    throw new AppError(
      'api_key_settings_refused',
      `The key you use works only from ${maker.allowed_cidrs.join(', ')}, and manages only keys whose networks lie within these. Choose allowed_cidrs within them (left out, a new key gets yours), use a key without networks, or ask the operator.`,
      { param: 'allowed_cidrs' },
    );
  }
}

function requireScopes({ scopes }: Powers, wanted: readonly Scope[]): void {
  const missing = wanted.find((scope) => !hasScope(scopes, scope));
  if (missing === undefined) return;
  throw new AppError(
    'scope_missing',
    `A key manages only keys whose scopes it has itself; it lacks the \`${missing}\` scope and has ${scopes.join(', ')}. Use a key with that scope, or ask the operator.`,
    { param: 'scopes' },
  );
}

function endsInTime({ expires_at: latest }: Powers, { expires_at: wanted }: Powers): boolean {
  return latest === null || (wanted !== null && wanted <= latest);
}

/** No networks means from anywhere. */
function isInNetworks({ allowed_cidrs: own }: Powers, { allowed_cidrs: wanted }: Powers): boolean {
  if (own.length === 0) return true;
  const networks = own.map(requireCidr);
  return wanted.length > 0 && wanted.every((cidr) => isWithinOneOf(networks, requireCidr(cidr)));
}
