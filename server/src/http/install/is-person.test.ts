import { expect, test } from 'vitest';
import { isPerson } from './is-person.ts';

const seen = (userAgent: string) => isPerson({ method: 'GET', headers: { 'user-agent': userAgent } });

test.each([
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148 Instagram 350.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148 Safari Line/14.0.0',
  'Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 50) Chrome/142.0.0.0 Mobile',
])('%s shows the page to a person', (userAgent) => {
  expect(seen(userAgent)).toBe(true);
});

test.each([{ 'sec-purpose': 'prefetch;prerender' }, { purpose: 'prefetch' }, { 'x-purpose': 'preview' }])(
  'a browser that loads the page in advance with %j does not show it',
  (headers) => {
    const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148 Safari';
    expect(isPerson({ method: 'GET', headers: { 'user-agent': userAgent, ...headers } })).toBe(false);
  },
);

test.each([
  'facebookexternalhit/1.1;line-poker/1.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'TelegramBot (like TwitterBot)',
  ...['crawler', 'spider', 'Embedly', 'HeadlessChrome', 'Lighthouse', 'SafeLinks', 'Barracuda'].map(
    (name) => `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${name}/1.0`,
  ),
  'Mozilla/5.0 (compatible; Proofpoint)',
  'Mozilla/5.0 (compatible; Mimecast)',
  'Mozilla/5.0 (compatible; facebookexternalhit/1.1)',
  '',
])('%s does not', (userAgent) => {
  expect(seen(userAgent)).toBe(false);
});
