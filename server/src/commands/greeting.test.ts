import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SandboxKey } from '../serve.ts';
import { greeting, unusableKey } from './greeting.ts';

const key = 'sp_test_printed_by_the_greeting';
const config = { mode: 'sandbox', role: 'all' } as const;
const usable: SandboxKey = {
  key,
  file: '/data/sandbox-api-key',
  state: { kind: 'usable', id: '01890000-0000-7000-8000-000000000000' },
};

function greet(sandboxKey: SandboxKey | null, isTerminal: boolean): string {
  return greeting(
    config,
    { url: 'http://127.0.0.1:4000', sandboxKey, newDashboardLink: null, dashboardLink: null, notice: null },
    { isTerminal },
  );
}

test('a terminal shows the key twice: on its own line and in the sample call', () => {
  expect(greet(usable, true).split(key)).toHaveLength(3);
});

test('other output says where the key is stored and never contains it', () => {
  const piped = greet(usable, false);
  expect(piped).not.toContain(key);
  expect(piped).toContain('API key    in /data/sandbox-api-key');
  expect(piped).toContain('Bearer $(cat /data/sandbox-api-key)"');
  const given = greet({ ...usable, file: null }, false);
  expect(given).not.toContain(key);
  expect(given).toContain('API key    the one in SIMPLANE_API_KEY');
  expect(given).toContain('Bearer $SIMPLANE_API_KEY"');
});

test('the sample header works with any folder name', () => {
  const folder = mkdtempSync(join(tmpdir(), `a "quoted" $HOME 'folder' `));
  try {
    const file = join(folder, 'sandbox-api-key');
    writeFileSync(file, `${key}\n`);
    const [header = ''] = /"Authorization.+(?= \\)/.exec(greet({ ...usable, file }, false)) ?? [];
    expect(execFileSync('sh', ['-c', `printf %s ${header}`], { encoding: 'utf8' })).toBe(
      `Authorization: Bearer ${key}`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an unusable key is not printed, not even to a terminal', () => {
  const at = new Date('2026-01-02T03:04:05Z');
  const id = '0190a000-0000-7000-8000-000000000000';
  const expired: SandboxKey = { ...usable, file: null, state: { kind: 'expired', id, at } };
  expect(greet(expired, true)).not.toContain(key);
  expect(greet(expired, true)).not.toContain('curl');
  expect(unusableKey(expired)).toMatch(/SIMPLANE_API_KEY \(key_\w+\) expired at 2026-01-02T03:04:05.000Z/);
  expect(unusableKey(usable)).toBeNull();
  expect(unusableKey(null)).toBeNull();
});

test('a worker and a live deployment print no key', () => {
  const running = {
    url: 'http://127.0.0.1:4000',
    sandboxKey: usable,
    newDashboardLink: null,
    dashboardLink: null,
    notice: null,
  };
  expect(greeting({ ...config, role: 'worker' }, running, { isTerminal: true })).not.toContain(key);
  expect(greet(null, true)).not.toContain('API key');
});

test('only a terminal shows a link that signs in; other output says how to get one', () => {
  const running = {
    ...{ url: 'http://127.0.0.1:4000', sandboxKey: usable, notice: null },
    newDashboardLink: () => Promise.resolve(''),
  };
  const dashboardLink = 'http://127.0.0.1:4000/dashboard/sign-in#link=abc';
  expect(greeting(config, { ...running, dashboardLink }, { isTerminal: true })).toContain(dashboardLink);
  const piped = greeting(config, { ...running, dashboardLink: null }, { isTerminal: false });
  expect(piped).toContain('http://127.0.0.1:4000/dashboard\n');
  expect(piped).toContain('simplane-server dashboard-link');
});
