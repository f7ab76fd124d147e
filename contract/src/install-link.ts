import type { Static } from 'typebox';
import { exampleIccid, exampleId, exampleTime } from './example-values.ts';
import { iccid, iccidParams } from './iccid.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableString, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { oneLinePattern } from './text-patterns.ts';
import { Type } from './type.ts';

/** The languages of the page. */
export const pageLanguages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'tr', 'zh', 'ja', 'ar'] as const;

export type PageLanguage = (typeof pageLanguages)[number];

const daySeconds = 86_400;

/** How long a link works, in seconds. */
export const installLinkLife = { minimum: 300, default: 30 * daySeconds, maximum: 365 * daySeconds } as const;

/** Of one eSIM, at a time. */
export const maxInstallLinks = 20;

/** For links that a page shows. */
export const maxLinkLength = 500;

const example = {
  id: exampleId(idPrefixes.installLink),
  object: 'install_link',
  iccid: exampleIccid,
  language: null,
  return_url: 'https://shop.example.com/orders/A-1001',
  created: exampleTime,
  expires_at: exampleTime + installLinkLife.default,
  opened_at: null,
  installed_at: null,
};

const exampleWithUrl = {
  ...example,
  url: 'https://esim.example.com/i/3q2-7wAAq83vASNFZ4mrze_-3LqYdlQyEP7cupjvq80',
  qr: { svg: 'data:image/svg+xml;base64,PHN2Zy8+', png: 'data:image/png;base64,iVBORw0KGgo=' },
};

const language = {
  description: 'Language of the page. Null: that of the reader’s browser, or English.',
  examples: ['de'],
};

export const InstallLink = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.installLink) }),
    object: Type.Literal('install_link'),
    iccid,
    url: Type.Optional(
      Type.String({
        description:
          'The link to send to the end user. Whoever has it can install the eSIM. Only its hash is stored, so it is returned by the creation only.',
      }),
    ),
    qr: Type.Optional(
      Type.Object(
        {
          svg: Type.String({ description: 'QR code as a data URI.' }),
          png: Type.String({ description: 'QR code as a data URI.' }),
        },
        { description: 'QR code of the link, for print. Returned by the creation only.' },
      ),
    ),
    language: Type.Unsafe<PageLanguage | null>({
      type: ['string', 'null'],
      enum: [...pageLanguages, null],
      ...language,
    }),
    return_url: nullableString({ description: 'Where the page leads once the eSIM is online.' }),
    created: unixSeconds('When the link was created.'),
    expires_at: unixSeconds('When the link ends.'),
    opened_at: nullableUnixSeconds(
      'When someone first opened it. Previews by chat and mail programs do not count.',
    ),
    installed_at: nullableUnixSeconds('When the eSIM was installed on a device, while the link existed.'),
  },
  {
    title: 'InstallLink',
    description: 'A page for the end user, which installs the eSIM on the phone it is opened on.',
    examples: [example],
  },
);

export type InstallLink = Static<typeof InstallLink>;

export const createInstallLink = operation({
  method: 'POST',
  path: '/v1/esims/{iccid}/install_links',
  tag: 'Install links',
  summary: 'Create an install link',
  description:
    'Returns a link to send to the end user: a page in their language that installs the eSIM and shows when it is online. ' +
    `An eSIM has up to ${maxInstallLinks} links; those that have expired are removed. An \`install_link.opened\` event follows when someone first opens it.`,
  scope: 'install',
  audit: { action: 'esim.install_link_created', target: 'esim' },
  params: iccidParams,
  body: Type.Object(
    {
      expires_in: Type.Optional(
        Type.Integer({
          minimum: installLinkLife.minimum,
          maximum: installLinkLife.maximum,
          description: 'Seconds until the link ends. Defaults to 30 days; at most a year.',
          examples: [installLinkLife.default],
        }),
      ),
      language: Type.Optional(
        Type.Unsafe<PageLanguage | null>({
          type: ['string', 'null'],
          enum: [...pageLanguages, null],
          ...language,
        }),
      ),
      return_url: Type.Optional(
        nullableString({
          minLength: 1,
          maxLength: maxLinkLength,
          pattern: oneLinePattern,
          description:
            'An `https` URL of yours. The page leads there once the eSIM is online. Null for none.',
          examples: [example.return_url],
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ expires_in: installLinkLife.default, return_url: example.return_url }],
    },
  ),
  status: 201,
  response: InstallLink,
  responseExample: exampleWithUrl,
  refusals: ['resource_missing', 'esim_not_ready', 'state_conflict', 'install_link_limit_reached'],
});

export const listInstallLinks = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/install_links',
  tag: 'Install links',
  summary: 'List the install links of an eSIM',
  description:
    'Returns the eSIM’s links without their URLs. A link that has expired is listed for 30 days, or until the next one is created.',
  scope: 'read',
  params: iccidParams,
  query: listQuery({}),
  status: 200,
  response: listOf(InstallLink, 'InstallLinkList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});

export const revokeInstallLink = operation({
  method: 'DELETE',
  path: '/v1/esims/{iccid}/install_links/{id}',
  tag: 'Install links',
  summary: 'Revoke an install link',
  description:
    'Ends the link at once, on every process. Somebody who has seen the activation code can still use it: terminate the eSIM if that must not happen.',
  scope: 'install',
  audit: { action: 'install_link.revoked', target: 'install_link' },
  params: Type.Object({
    ...iccidParams.properties,
    id: Type.String({ description: 'Id of the link (`ilk_…`).', examples: [example.id] }),
  }),
  allowedWhenSuspended: true,
  status: 200,
  response: Type.Object(
    {
      id: Type.String({ pattern: idPattern(idPrefixes.installLink) }),
      object: Type.Literal('install_link'),
      deleted: Type.Boolean({ description: 'Always `true`.' }),
    },
    {
      title: 'RevokedInstallLink',
      description: 'Confirms that the link has ended.',
      examples: [{ id: example.id, object: 'install_link', deleted: true }],
    },
  ),
  refusals: ['resource_missing'],
});
