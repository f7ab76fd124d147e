import { currentApiVersion } from './api-version.ts';
import { encodeId, type IdPrefix } from './ids.ts';

/** Values that the examples share, so that they agree with each other. */
export const exampleTime = Date.parse(`${currentApiVersion}T09:30:00Z`) / 1000;
export const exampleIccid = '8999901000000000018';
export const exampleProductId = 'prod_europe_5gb_30d';
export const exampleUrl = 'https://example.com/webhooks';
export const exampleProfileError = {
  code: 'device_memory_full',
  message:
    'The device has no memory left for another profile. Delete one that is no longer used, then try again.',
  upstream: { subject_code: '8.1', reason_code: '4.8', notification_point_id: '4' },
};
export const exampleBytes = { data: 5 * 1024 ** 3, used: 4 * 1024 ** 3 };

/** A valid id with this prefix: the same in all examples, and found in no deployment. */
export function exampleId(prefix: IdPrefix): string {
  const uuid = new Uint8Array(16);
  for (let i = 0; i < 6; i++) uuid[i] = Math.floor((exampleTime * 1000) / 256 ** (5 - i)) % 256;
  for (let i = 6; i < 16; i++) uuid[i] = (prefix.charCodeAt(i % prefix.length) * (i + 31)) % 256;
  uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f); // version 7
  uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f);
  return encodeId(prefix, uuid);
}
