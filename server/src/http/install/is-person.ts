import type { FastifyRequest } from 'fastify';

/**
 * Programs that open links in chats and mails to show a preview or to look for malware. Most of them do not even claim to be a browser.
 * Cubot makes phones.
 */
const previews =
  /(?<!cu)bot\b|crawl|spider|preview|facebookexternalhit|embedly|headless|lighthouse|safelinks|barracuda|proofpoint|mimecast/i;

/** Whether the request shows the page to a person. Only those count as views. */
export function isPerson({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  if (method !== 'GET' || headers['x-purpose'] !== undefined) return false;
  if (/prefetch|preview/i.test(`${headers['sec-purpose'] ?? ''} ${headers['purpose'] ?? ''}`)) return false;
  const userAgent = headers['user-agent'] ?? '';
  return /^Mozilla\//.test(userAgent) && !previews.test(userAgent);
}
