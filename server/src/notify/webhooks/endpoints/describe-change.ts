import { changedFields } from '../../../accounts/audit/record.ts';
import { changedNames } from '../../../accounts/metadata/merge.ts';
import { clip } from '../../../platform/telemetry/clip.ts';
import type { EndpointRow } from './sql/endpoints.ts';

/** The settings of a new endpoint, for its audit entry. */
export function describeSettings({ url, enabled_event_types, ordering }: EndpointRow) {
  return { url: urlForAudit(url), enabled_event_types, ordering };
}

/** The changed settings, and the names of the changed `metadata`. */
export function describeUpdate(before: EndpointRow, after: EndpointRow): Record<string, unknown> | undefined {
  const changes: Record<string, unknown> = changedFields(settingsOf(before), settingsOf(after));
  if (before.url !== after.url)
    changes['url'] = { from: urlForAudit(before.url), to: urlForAudit(after.url) };
  const names = changedNames(before.metadata, after.metadata);
  if (names.length > 0) changes['metadata'] = { changed: names };
  return Object.keys(changes).length > 0 ? changes : undefined;
}

function settingsOf({ enabled_event_types, description, ordering, status }: EndpointRow) {
  return { enabled_event_types, description: description && clip(description, 200), ordering, status };
}

// A version, or a word without digits. Receivers put tokens into paths too.
const plainSegment = /^(?:v\d{1,3}|[a-zA-Z_.-]{0,20})$/;

/** The URL without what may be a secret: credentials, query, and parts of the path that look like tokens. */
export function urlForAudit(url: string): string {
  const { protocol, host, pathname, username, password, search } = new URL(url);
  const path = pathname.split('/').map((part) => (plainSegment.test(part) ? part : '…'));
  const credentials = username || password ? '…@' : '';
  return clip(`${protocol}//${credentials}${host}${path.join('/')}${search && '?…'}`, 300);
}
