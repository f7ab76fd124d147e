import { createHash } from 'node:crypto';
import { currentApiVersion, encodeId, idPattern, idPrefixes } from '@simplane/contract';
import type { Schema } from './document.ts';

/** A realistic value for the field at this path, if the schema accepts it. */
export function hintFor(path: string, schema: Schema): unknown {
  const name = path.split('.').at(-1) ?? '';
  const candidates = [
    hints[path.split('.').slice(-2).join('.')],
    hints[name],
    ...endings.filter(([end]) => name.endsWith(end)).map(([, value]) => value),
  ];
  return candidates.find((value) => value !== undefined && accepts(schema, value));
}

/** A valid id for an id pattern: a UUIDv7 with the time used in the examples. */
export function idExample(pattern: string): string | null {
  const prefix = Object.values(idPrefixes).find((candidate) => idPattern(candidate) === pattern);
  if (prefix === undefined) return null;
  const uuid = createHash('sha256').update(prefix).digest().subarray(0, 16);
  uuid.writeUIntBE(exampleTime * 1000, 0, 6);
  uuid[6] = ((uuid[6] ?? 0) & 0x0f) | 0x70;
  uuid[8] = ((uuid[8] ?? 0) & 0x3f) | 0x80;
  return encodeId(prefix, uuid);
}

const exampleTime = Date.parse(`${currentApiVersion}T09:30:00Z`) / 1000;
const gigabyte = 1024 ** 3;
const iccid = '8988303000012345676';

const hints: Record<string, unknown> = {
  active: true,
  activation_code: '1$rsp.example.com$K7QM-4T2X-9HVD',
  amount: 900,
  android_install_url:
    'https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA:1$rsp.example.com$K7QM',
  api_version: currentApiVersion,
  bytes: 250 * 1024 ** 2,
  code: 'parameter_invalid',
  countries: ['DE', 'FR', 'IT'],
  country: 'DE',
  currency: 'eur',
  data_bytes: 5 * gigabyte,
  doc_url: '/docs#error-parameter_invalid',
  duration_ms: 184,
  eid: '89049032000000000000000000000017',
  enabled_event_types: ['esim.*', 'bundle.usage_threshold'],
  event_types: ['esim.provisioned'],
  iccid,
  ios_install_url: 'https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:1$rsp.example.com$K7QM',
  last4: 'x7Qd',
  lpa: 'LPA:1$rsp.example.com$K7QM-4T2X-9HVD',
  matching_id: 'K7QM-4T2X-9HVD',
  message: 'limit must be at least 1; got 0.',
  name: 'Acme Travel',
  'api_key.name': 'Backend',
  next_cursor: 'eyJhIjoiMDFrOTQifQ',
  param: 'limit',
  product_id: 'prod_europe_5gb_30d',
  secret: `whsec_${Buffer.from('an example of a signing secret..').toString('base64')}`,
  smdp_address: 'rsp.example.com',
  speeds: ['4G', '5G'],
  starting_after: 'eyJhIjoiMDFrOTQifQ',
  status_code: 200,
  svg: 'data:image/svg+xml;base64,PHN2Zy8+',
  png: 'data:image/png;base64,iVBORw0KGgo=',
  thresholds: [50, 80, 100],
  type: 'esim.provisioned',
  url: 'https://example.com/webhooks',
  used_bytes: gigabyte,
  validity_days: 30,
};

const endings: [string, unknown][] = [
  ['_at', exampleTime],
  ['created', exampleTime],
  ['as_of', exampleTime],
  ['since', exampleTime],
  ['_bytes', gigabyte],
  ['_url', 'https://example.com/'],
];

/** Hints are guessed by name, so each is checked against the schema's limits. */
function accepts(schema: Schema, value: unknown): boolean {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (typeof value === 'string') {
    if (types.length > 0 && !types.includes('string')) return false;
    if (value.length < (schema.minLength ?? 0) || value.length > (schema.maxLength ?? Infinity)) return false;
    return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value);
  }
  if (typeof value === 'number') {
    if (!types.includes('integer') && !types.includes('number')) return false;
    return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  }
  if (typeof value === 'boolean') return types.includes('boolean');
  if (!Array.isArray(value) || !types.includes('array')) return false;
  return (
    value.every((item) => accepts(schema.items ?? {}, item)) && value.length <= (schema.maxItems ?? Infinity)
  );
}
