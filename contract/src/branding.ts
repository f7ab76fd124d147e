import type { Static } from 'typebox';
import { maxLinkLength, type PageLanguage, pageLanguages } from './install-link.ts';
import { operation } from './operation.ts';
import { nullableString } from './schema.ts';
import { oneLinePattern } from './text-patterns.ts';
import { Type } from './type.ts';

/** So that the page of an install link stays below 30 kB with it. */
const maxLogoBytes = 16 * 1024;

/** In pixels, of each side. */
export const maxLogoSide = 1_000;

const logoPrefix = 'data:image/png;base64,';

/** What the page has unless the account chose another one. */
export const defaultColor = '#1d4ed8';

const example = {
  object: 'branding',
  name: 'Nomad eSIM',
  color: '#0f766e',
  text_color: '#ffffff',
  logo: null,
  support_url: 'mailto:help@shop.example.com',
  top_up_url: 'https://shop.example.com/top-up',
  apn: null,
  messages: { en: 'Thank you for travelling with us.' },
};

const name = {
  minLength: 1,
  maxLength: 60,
  pattern: oneLinePattern,
  description: 'The name in the page’s header. Null: the account’s name.',
};
const color = {
  pattern: '^#[0-9a-f]{6}$',
  description: `Color of the button, such as \`${defaultColor}\`, which is the default (null).`,
};
const logo = {
  maxLength: logoPrefix.length + Math.ceil(maxLogoBytes / 3) * 4,
  pattern: `^${logoPrefix}[A-Za-z0-9+/]+={0,2}$`,
  description: `A PNG picture as a data URI: up to ${maxLogoBytes / 1024} kB and ${maxLogoSide} pixels a side, not interlaced. Everything in it but the picture is removed. Null for none.`,
};
const link = { minLength: 1, maxLength: maxLinkLength, pattern: oneLinePattern };
const supportUrl = {
  ...link,
  description:
    'Where the page sends people who need help: a `mailto:`, `https:` or `tel:` URL. Null for none.',
};
const topUpUrl = {
  ...link,
  description:
    'Where people buy more data: an `https` URL. The page shows it once they are online. Null for none.',
};
const apn = {
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9.-]+$',
  description: 'The APN that the page shows. Null if phones set it by themselves.',
};
const messageText = { minLength: 1, maxLength: 200, pattern: oneLinePattern };

function messagesIn<Text>(text: object) {
  return Type.Unsafe<{ [language in PageLanguage]?: Text }>({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(pageLanguages.map((language) => [language, text])),
    description:
      'A sentence of yours below the heading, by language: up to 200 characters each. A reader sees the one in the page’s language.',
  });
}

export const Branding = Type.Object(
  {
    object: Type.Literal('branding'),
    name: nullableString(name),
    color: nullableString(color),
    text_color: Type.String({
      description:
        'Color of the text on the button: black or white, whichever can be read better. Its contrast is at least 4.5.',
    }),
    logo: nullableString(logo),
    support_url: nullableString(supportUrl),
    top_up_url: nullableString(topUpUrl),
    apn: nullableString(apn),
    messages: messagesIn<string>({ type: 'string', ...messageText }),
  },
  {
    title: 'Branding',
    description: 'What the pages of the account’s install links show of it.',
    examples: [example],
  },
);

export type Branding = Static<typeof Branding>;

export const getBranding = operation({
  method: 'GET',
  path: '/v1/branding',
  tag: 'Install links',
  summary: 'Get the branding',
  description: 'Returns what the pages of the account’s install links show of it.',
  scope: 'read',
  status: 200,
  response: Branding,
  refusals: [],
});

export const updateBranding = operation({
  method: 'PATCH',
  path: '/v1/branding',
  tag: 'Install links',
  summary: 'Update the branding',
  description:
    'Changes the given fields only; null restores the default. `messages` is merged by language: null removes one. Pages show it at once, also those of links sent before.',
  scope: 'write',
  audit: { action: 'branding.updated', target: 'account' },
  body: Type.Object(
    {
      name: Type.Optional(nullableString(name)),
      color: Type.Optional(nullableString(color)),
      logo: Type.Optional(nullableString(logo)),
      support_url: Type.Optional(nullableString(supportUrl)),
      top_up_url: Type.Optional(nullableString(topUpUrl)),
      apn: Type.Optional(nullableString(apn)),
      messages: Type.Optional(messagesIn<string | null>({ type: ['string', 'null'], ...messageText })),
    },
    {
      additionalProperties: false,
      examples: [{ name: example.name, color: example.color, support_url: example.support_url }],
    },
  ),
  status: 200,
  response: Branding,
  refusals: [],
});
