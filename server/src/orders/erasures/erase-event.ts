import { type eventDataFields, eventTypes } from '@simplane/contract';

type Field = keyof typeof eventDataFields;

/** What each field of an event becomes. A new one has to be decided here. */
const treatment: Record<Field, 'kept' | 'dropped' | 'emptied' | 'code only'> = {
  iccid: 'kept',
  execution_id: 'kept',
  execution_type: 'kept',
  product_id: 'kept',
  bundle_id: 'kept',
  batch_id: 'kept',
  total: 'kept',
  succeeded: 'kept',
  failed: 'kept',
  canceled: 'kept',
  webhook_endpoint_id: 'kept',
  expires_at: 'kept',
  threshold_percent: 'kept',
  used_bytes: 'kept',
  data_bytes: 'kept',
  uncovered_bytes: 'kept',
  state: 'kept',
  reason: 'kept',
  kbps: 'kept',
  version: 'kept',
  install_link_id: 'kept',
  failing_since: 'kept',
  failure_count: 'kept',
  reference: 'dropped',
  country: 'emptied',
  previous_country: 'emptied',
  url: 'emptied',
  disabled_reason: 'emptied',
  last_error: 'emptied',
  error: 'code only',
};

type Stored = { type: string; body: string; isTest: boolean };
type Data = Record<string, unknown>;

/**
 * The stored bytes of an event without personal data. Id, type, time and ICCID stay, so readers of the feed find no gap; a field that
 * the type always has stays, as an empty text.
 */
export function eraseEventBody({ type, body, isTest }: Stored): string {
  const { data, ...event } = JSON.parse(body) as { data: Data };
  const isOurs = !isTest && Object.hasOwn(eventTypes, type);
  return JSON.stringify({ ...event, data: isOurs ? eraseFields(data) : iccidOnly(data) });
}

function eraseFields(data: Data): Data {
  const kept: Data = {};
  for (const [name, value] of Object.entries(data)) {
    const how = Object.hasOwn(treatment, name) ? treatment[name as Field] : 'dropped';
    if (how === 'kept') kept[name] = value;
    if (how === 'emptied') kept[name] = '';
    if (how === 'code only') kept[name] = { code: (value as { code?: unknown }).code, message: erasedText };
  }
  return kept;
}

/** In place of a text that must not be empty. */
export const erasedText = 'Erased.';

/** The data of a test event can be anything. */
function iccidOnly({ iccid }: Data): Data {
  return typeof iccid === 'string' && /^\d{18,20}$/.test(iccid) ? { iccid } : {};
}

const personal = new Set(['reference', 'eid', 'description', 'country']);

/** A stored answer without personal data, wherever in it. */
export function eraseAnswerBody(body: string): string {
  const withoutPersonal = (name: string, value: unknown) =>
    personal.has(name) ? null : name === 'metadata' ? {} : value;
  return JSON.stringify(JSON.parse(body, withoutPersonal));
}
