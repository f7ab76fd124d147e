import { eventTypeNames } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import { checkUrl } from '../guard/check-url.ts';

type Settings = { url?: string; enabled_event_types?: string[] };

/**
 * Returns the error in an endpoint's settings, or null. Callers throw it inside the transaction, where the stored response to an
 * earlier request with the same idempotency key takes precedence.
 */
export function checkSettings(
  ctx: Pick<Context, 'mode' | 'addressPolicy'>,
  { url, enabled_event_types }: Settings,
): AppError | null {
  const refusal = enabled_event_types && checkEventTypes(enabled_event_types, ctx.mode);
  if (refusal) return refusal;
  if (url === undefined) return null;
  const checked = checkUrl(url, ctx.addressPolicy);
  return checked.ok ? null : new AppError('url_not_allowed', checked.reason, { param: 'url' });
}

/** The schema has checked the format. A sandbox accepts unknown types, because test events may use them. */
function checkEventTypes(types: string[], mode: Context['mode']): AppError | null {
  if (types.includes('*') && types.length > 1) {
    return new AppError(
      'parameter_invalid',
      'enabled_event_types must contain "*" alone, because it matches every type.',
      {
        param: 'enabled_event_types',
      },
    );
  }
  const unknown = mode === 'live' ? types.findIndex((type) => !isKnown(type)) : -1;
  if (unknown < 0) return null;
  const param = `enabled_event_types[${unknown}]`;
  return new AppError(
    'parameter_invalid',
    `${param} is not an event type. Use a type from GET /v1/event_types, or a family such as "esim.*".`,
    { param },
  );
}

function isKnown(type: string): boolean {
  if (type === '*') return true;
  const family = type.endsWith('.*') ? type.slice(0, -1) : null;
  return eventTypeNames.some((name) => (family === null ? name === type : name.startsWith(family)));
}
