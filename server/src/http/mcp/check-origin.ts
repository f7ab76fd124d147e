import { AppError } from '../../app-error.ts';
import type { Service } from '../../service.ts';

/**
 * Browsers say which page a request comes from; programs say nothing. A page of another site, or one whose name was made
 * to lead to this machine (DNS rebinding), is refused, whatever key it got hold of. `Host` proves nothing here: the page chose it.
 */
export function checkOrigin({ mode, publicUrl }: Service, origin: string | undefined): void {
  if (origin === undefined || origin === originOf(publicUrl())) return;
  if (mode === 'sandbox' && isLoopback(origin)) return;
  throw new AppError(
    'origin_not_allowed',
    'Pages of other sites may not call this; programs send no Origin.',
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
