import type { FastifyRequest } from 'fastify';
import type { Service } from '../../background/service.ts';
import { AppError } from '../../platform/app-error.ts';

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/i;

/** Refuses host names that are not ours: a page that resolves its own name to this machine could read answers (DNS rebinding). */
export function checkHost({ publicUrl }: Pick<Service, 'publicUrl'>, { headers }: FastifyRequest): void {
  if (isLoopback(headers.host) || headers.host === hostOf(publicUrl())) return;
  throw new AppError(
    'host_not_allowed',
    'The dashboard is not served under this host name. Open it under the deployment’s public URL, or under 127.0.0.1 on the machine itself.',
  );
}

/** A page of another site can send a form here, but its `Origin` gives it away. */
export function checkOwnOrigin({ headers }: FastifyRequest): void {
  if (headers.origin !== undefined && headers.host !== undefined && hostOf(headers.origin) === headers.host)
    return;
  throw new AppError(
    'origin_not_allowed',
    'Only the dashboard’s own page may do this. Programs use /v1 with an API key.',
    { param: 'Origin' },
  );
}

export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && loopback.test(host.replace(/:\d{1,5}$/, ''));
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
