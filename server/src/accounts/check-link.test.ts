import { expect, test } from 'vitest';
import { checkLink } from './check-link.ts';

const check = (text: string | null | undefined) => () => checkLink('support_url', text, ['https:', 'tel:']);

test.each([undefined, null, 'https://shop.example/help', 'tel:+4930123'])('%s is taken as a link', (text) => {
  expect(check(text)).not.toThrow();
});

test.each([
  'help',
  '',
  'http://shop.example/',
  'javascript:alert(1)',
  'https://user@shop.example/',
  'https://:secret@shop.example/',
])('“%s” is refused as a link', (text) => {
  expect(check(text)).toThrow('support_url must be a URL with https or tel, without credentials.');
});
