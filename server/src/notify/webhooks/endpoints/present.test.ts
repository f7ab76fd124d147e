import { expect, test } from 'vitest';
import type { EndpointRow } from './get.ts';
import { aboutEndpoint, presentEndpoint } from './present.ts';

const id = '0190a000-0000-7000-8000-000000000000';

test('an endpoint is shown with the secrets that still sign, and no others', () => {
  const secrets = [
    { created_ms: 9_000, expires_ms: null },
    { created_ms: 3_000, expires_ms: 5_001 },
    { created_ms: 2_000, expires_ms: 5_000 },
  ];
  const row = {
    id,
    secrets,
    disabled_reason: null,
    created_at: new Date(0),
    missed: { count: 0, since_ms: null },
  };
  const { secrets: shown } = presentEndpoint(
    { clock: { nowMs: () => 5_000 } },
    row as unknown as EndpointRow,
  );
  expect(shown).toEqual([
    { created: 9, expires_at: null },
    { created: 3, expires_at: 5 },
  ]);
});

test('an event about an endpoint has no credentials and no query of its URL', () => {
  const { url } = aboutEndpoint({ id, url: 'https://user:secret@a.example:8443/hook?token=secret' });
  expect(url).toBe('https://a.example:8443/hook');
});
