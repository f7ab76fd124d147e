import { expect, test } from 'vitest';
import { readConfig } from './read-config.ts';

const addressOf = (url: string) => readConfig({ SIMPLANE_PUBLIC_URL: url }).config.publicUrl;

test('without settings, nothing listens for other machines', () => {
  const { host, metricsHost, es2ListenPort } = readConfig({}).config;
  expect([host, metricsHost, es2ListenPort]).toEqual(['127.0.0.1', '127.0.0.1', null]);
});

test('the address that clients use may have a port', () => {
  expect(addressOf('https://api.example.com:8443')).toBe('https://api.example.com:8443');
});

test.each([
  'https://api.example.com/v1',
  'https://api.example.com/',
  'api.example.com',
  'ftp://api.example.com',
])('the address that clients use has a scheme and no path, because links are made with it: %s', (url) => {
  expect(() => addressOf(url)).toThrow(
    `SIMPLANE_PUBLIC_URL takes an \`http://\` or \`https://\` URL without a path; got "${url}"`,
  );
});
