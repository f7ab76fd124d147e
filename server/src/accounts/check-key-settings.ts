import { parseCidr } from '../platform/addresses/parse-address.ts';
import { AppError } from '../platform/app-error.ts';
import type { Clock } from '../platform/clock.ts';
import { clip } from '../platform/telemetry/clip.ts';

type Settings = { allowed_cidrs?: string[]; expires_at?: number | null };

/** Refuses settings of a key that a schema cannot. */
export function checkKeySettings({ clock }: { clock: Clock }, settings: Settings): void {
  for (const [index, cidr] of (settings.allowed_cidrs ?? []).entries()) {
    if (parseCidr(cidr)) continue;
    throw new AppError(
      'parameter_invalid',
      `allowed_cidrs takes networks such as 203.0.113.0/24 or 2001:db8::/32, and 203.0.113.7/32 for one address; got "${clip(cidr)}".`,
      { param: `allowed_cidrs[${index}]` },
    );
  }
  if (typeof settings.expires_at === 'number' && settings.expires_at * 1000 <= clock.nowMs()) {
    throw new AppError(
      'parameter_invalid',
      'expires_at must be in the future; to end a key now, revoke it with DELETE.',
      { param: 'expires_at' },
    );
  }
}
