import { expect, test } from 'vitest';
import { detectDevice } from './detect-device.ts';

const iphone = (version: string) =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS ${version} like Mac OS X) Mobile/15E148`;

test.each([
  [iphone('17_4'), 'iphone'],
  [iphone('17_4_1'), 'iphone'],
  [iphone('18_0'), 'iphone'],
  [iphone('26_1'), 'iphone'],
  [iphone('17_3_1'), 'other'],
  [iphone('16_7'), 'other'],
  ['Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) Mobile/15E148', 'iphone'],
  ['Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/142.0.0.0 Mobile', 'android'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', 'computer'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)', 'computer'],
  ['Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)', 'computer'],
  ['Mozilla/5.0 (Tizen 6.0; Mobile)', 'other'],
  [undefined, 'other'],
])('%s is %s', (userAgent, device) => {
  expect(detectDevice(userAgent)).toBe(device);
});

test('the reader can choose another device, of those there are', () => {
  expect(detectDevice(iphone('18_0'), 'computer')).toBe('computer');
  expect(detectDevice(iphone('18_0'), 'toaster')).toBe('iphone');
});
