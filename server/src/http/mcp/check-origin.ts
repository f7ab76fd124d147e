import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';

/**
 * Browsers send an `Origin`; other clients do not. A page from another site, or one that resolves its own name to this machine
 * (DNS rebinding), is refused even with a valid key. `Host` proves nothing here, because the page chose it.
 */
export function checkOrigin({ mode, publicUrl }: Service, origin: string | undefined): void {
  if (origin === undefined || origin === originOf(publicUrl())) return;
  if (mode === 'sandbox' && isLoopback(origin)) return;
  throw new AppError(
    'origin_not_allowed',
    'Web pages from other sites cannot call this endpoint; other clients must not send an Origin header.',
    {
      param: 'Origin',
    },
  );
}

function isLoopback(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}
