import { expect, test } from 'vitest';
import { quotePeer } from './quote-peer.ts';

test('a peer’s text is quoted without our secrets and activation codes, also where it is cut', () => {
  const secret = 'SECRET-MATCHING-ID';
  const quote = (message: string) => quotePeer({ message }, [secret])['message'] ?? '';
  expect(quote(`no ${secret} here, nor ${secret}`)).toBe('no [redacted] here, nor [redacted]');
  expect(quote('see LPA:1$smdp.example$ABC now, or 1$x$Y')).toBe('see [redacted] now, or [redacted]');
  expect(quote(`${'x'.repeat(190)}${secret}`)).not.toContain('SECRET');
  expect(quote(`${'x'.repeat(190)}LPA:1$smdp.example$ABC`)).not.toContain('smdp');
  expect(quote('x'.repeat(500)).length).toBeLessThan(210);
  expect(quotePeer({ message: ' \u0000\n', other: undefined })).toEqual({});
});
