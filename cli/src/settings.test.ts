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
