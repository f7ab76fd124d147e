import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Cell, withLabel } from '../../platform/cell.ts';

/** The cell's label and 256 random bits, so a plain hash of it can be stored. */
export function newToken(cell: Cell): string {
  return withLabel(cell, randomBytes(32).toString('base64url'));
}

export function hashOfToken(token: string): Buffer {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex');
}

/** Derived from the session's token, so the server stores nothing for it, and another site cannot know it. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

export function isCsrfToken(given: unknown, sessionToken: string): boolean {
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  const bytes = Buffer.from(typeof given === 'string' ? given : '');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
