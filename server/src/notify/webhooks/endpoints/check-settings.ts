import { eventTypeNames } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { AppError, invalid } from '../../../platform/app-error.ts';
import { checkUrl } from '../guard/check-url.ts';

type Settings = { url?: string; enabled_event_types?: string[] };

/** Refuses settings of an endpoint that a schema cannot. */
export function checkSettings(
  ctx: Pick<Context, 'mode' | 'addressPolicy'>,
  { url, enabled_event_types }: Settings,
): void {
  if (enabled_event_types) checkEventTypes(enabled_event_types, ctx.mode);
  if (url === undefined) return;
  const checked = checkUrl(url, ctx.addressPolicy);
  if (!checked.ok) throw new AppError('url_not_allowed', checked.reason, { param: 'url' });
}

/** The schema has checked the format. A sandbox accepts unknown types, because test events may use them. */
function checkEventTypes(types: string[], mode: Context['mode']): void {
  if (types.includes('*') && types.length > 1) {
    throw invalid(
      'enabled_event_types',
      'enabled_event_types must contain "*" alone, because it matches every type.',
    );
  }
  const unknown = mode === 'live' ? types.findIndex((type) => !isKnown(type)) : -1;
  if (unknown < 0) return;
  const param = `enabled_event_types[${unknown}]`;
  throw invalid(
    param,
    `${param} is not an event type. Use a type from GET /v1/event_types, or a family such as "esim.*".`,
  );
}

function isKnown(type: string): boolean {
  if (type === '*') return true;
  const family = type.endsWith('.*') ? type.slice(0, -1) : null;
  return eventTypeNames.some((name) => (family === null ? name === type : name.startsWith(family)));
}
