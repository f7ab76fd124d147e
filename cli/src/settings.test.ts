import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { readSettings } from './settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'simplane-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'sandbox-api-key'), 'sp_test_of_the_sandbox\n');

const settingsFor = (baseUrl: string) => readSettings({ baseUrl }, { SIMPLANE_DATA_DIR: folder });

test.each(['http://127.0.0.1:4000', 'http://127.9.8.7', 'http://localhost:1', 'http://[::1]:4000'])(
  'the sandbox’s key is for this machine: %s',
  (url) => {
    expect(settingsFor(url).apiKey).toBe('sp_test_of_the_sandbox');
  },
);

test.each([
  'http://127.0.0.1.evil.example',
  'http://evil.127.0.0.1.example',
  'http://localhost.evil.example',
  'http://128.0.0.1',
  'http://[::2]',
])('the sandbox’s key is sent to no other machine: %s', (url) => {
  expect(() => settingsFor(url)).toThrow(`No API key for ${url}.`);
});

test.each(['http://127.0.0.1:4000/?a=b', 'ftp://127.0.0.1', '127.0.0.1:4000'])(
  '%s is not the address of a service',
  (url) => {
    expect(() => settingsFor(url)).toThrow('The base URL must look like');
  },
);

test.each(['http://name@127.0.0.1:4000', 'http://:hunter2@127.0.0.1:4000'])(
  'the user and the password in %s are refused, and not repeated',
  (url) => {
    expect(() => settingsFor(url)).toThrow(/^The base URL must not have a user or a password\.$/);
  },
);

test.each([
  ['EPERM', 'http://127.0.0.1:4711'], // another user runs it
  ['ESRCH', 'http://127.0.0.1:4000'],
])('the address that a sandbox wrote is used while its process exists: %s', (code, baseUrl) => {
  writeFileSync(join(folder, 'sandbox-address'), '{"url":"http://127.0.0.1:4711","pid":4711}');
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
  const settings = readSettings({}, { SIMPLANE_DATA_DIR: folder });
  kill.mockRestore();
  expect(settings.baseUrl).toBe(baseUrl);
});

test('a flag wins over the environment, and both over the sandbox of this folder', () => {
  const env = { SIMPLANE_DATA_DIR: folder, SIMPLANE_API_KEY: ' sp_test_of_the_environment\n' };
  const baseUrl = 'http://127.0.0.1:4000/';
  expect(readSettings({ baseUrl, apiKey: 'sp_test_of_the_flag' }, env)).toMatchObject({
    ...{ baseUrl: 'http://127.0.0.1:4000', apiKey: 'sp_test_of_the_flag', keySource: '--api-key' },
  });
  expect(readSettings({ baseUrl }, env).apiKey).toBe('sp_test_of_the_environment');
  expect(readSettings({ baseUrl, apiKey: ' ' }, { SIMPLANE_DATA_DIR: folder }).apiKey).toBe(
    'sp_test_of_the_sandbox',
  );
});

test.each(['http://127.0.0.1:4000/v1', 'http://127.0.0.1:4000/v1/'])('%s has a version too many', (url) => {
  expect(() => settingsFor(url)).toThrow('must not include /v1');
});

test.each(['sp_test_one two', 'sp_test_\u00e9', 'sp_test_a\nb'])(
  'a key that cannot be one is not sent: %j',
  (apiKey) => {
    expect(() => readSettings({ baseUrl: 'http://127.0.0.1:4000', apiKey }, {})).toThrow(
      'The API key from --api-key is malformed',
    );
  },
);
