import { clip } from '../../platform/telemetry/clip.ts';

const maxLength = 200;

/**
 * A peer's texts as they may be stored and shown; empty ones are left out. A text may repeat our secrets, contain an activation
 * code, or characters that the database rejects.
 */
export function quotePeer(
  texts: Record<string, string | undefined>,
  secrets: readonly string[] = [],
): Record<string, string> {
  const shown = Object.entries(texts).map(([name, text = '']) => [name, redact(text, secrets)] as const);
  return Object.fromEntries(shown.filter(([, text]) => text !== ''));
}

/** Truncates last: a truncated secret would not be recognized. */
function redact(text: string, secrets: readonly string[]): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ').trim();
  const redacted = secrets
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), clean)
    .replaceAll(/(?:LPA:)?1\$[^\s"]*/g, '[redacted]');
  return clip(redacted, maxLength);
}
