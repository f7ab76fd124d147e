import { type Static, Type } from 'typebox';
import { Execution } from './execution.ts';
import { iccid, iccidParams } from './iccid.ts';
import { metadataSchema } from './metadata.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger, nullableString, unixSeconds } from './schema.ts';

export const esimStatuses = [
  'provisioning',
  'provisioned',
  'active',
  'suspended',
  'terminated',
  'failed',
] as const;

export type EsimStatus = (typeof esimStatuses)[number];

export const profileStates = [
  'released',
  'downloaded',
  'installed',
  'enabled',
  'disabled',
  'deleted',
  'error',
  'unknown',
] as const;

export type ProfileState = (typeof profileStates)[number];

const productId = {
  minLength: 1,
  maxLength: 100,
  description: 'The `id` of a product.',
  examples: ['prod_europe_5gb_30d'],
};

export const Esim = Type.Object(
  {
    iccid,
    object: Type.Literal('esim'),
    status: Type.Enum([...esimStatuses], {
      description: 'How the eSIM stands with us: this is what counts.',
    }),
    profile: Type.Object(
      {
        state: Type.Enum([...profileStates]),
        updated_at: nullableInteger({ description: 'When the network saw it. Unix time in seconds.' }),
      },
      { description: 'What the network last saw of the profile on a device; it never changes `status`.' },
    ),
    product_id: Type.String(),
    eid: nullableString({ description: 'The device’s eUICC, when it is known.' }),
    description: nullableString({}),
    metadata: metadataSchema,
    created: unixSeconds('When its ICCID was allotted.'),
    provisioned_at: nullableInteger({
      description: 'When it became ready to install. Unix time in seconds.',
    }),
  },
  { title: 'Esim', description: 'One eSIM profile.' },
);

export type Esim = Static<typeof Esim>;

export const InstallProfile = Type.Object(
  {
    object: Type.Literal('install_profile'),
    iccid,
    lpa: Type.String({
      description: 'What the QR code holds.',
      examples: ['LPA:1$smdp.example.com$K2-1B3D-9XY'],
    }),
    activation_code: Type.String({
      description: 'The same without `LPA:`, for typing in by hand.',
      examples: ['1$smdp.example.com$K2-1B3D-9XY'],
    }),
    smdp_address: Type.String({ examples: ['smdp.example.com'] }),
    matching_id: Type.String({ examples: ['K2-1B3D-9XY'] }),
    confirmation_code_required: Type.Boolean({
      description: 'Whether the device will ask for a code as well.',
    }),
    qr: Type.Object({
      svg: Type.String({ description: 'A data URI.' }),
      png: Type.String({ description: 'A data URI.' }),
    }),
    ios_install_url: Type.String({ description: 'Installs without a QR code on iOS 17.4 and newer.' }),
    android_install_url: Type.String({
      description: 'Installs without a QR code where Android supports it.',
    }),
    profile_state: Type.Enum([...profileStates], { description: 'As in the eSIM’s `profile.state`.' }),
  },
  { title: 'InstallProfile', description: 'What an end user needs to install the eSIM. It is a secret.' },
);

export type InstallProfile = Static<typeof InstallProfile>;

export const createEsim = operation({
  method: 'POST',
  path: '/v1/esims',
  tag: 'eSIMs',
  summary: 'Provision an eSIM',
  description:
    'Accepts the order durably and answers at once with an execution. Send an `Idempotency-Key`: a retry after a ' +
    'timeout then never orders twice. An `esim.provisioned` event follows.',
  scope: 'write',
  body: Type.Object(
    {
      product_id: Type.String(productId),
      eid: Type.Optional(
        Type.String({
          minLength: 32,
          maxLength: 32,
          pattern: '^[0-9]+$',
          description:
            'Binds the profile to one device: its eUICC’s 32 digits. Left out: any device may install it.',
          examples: ['89882119900000000000000000001654'],
        }),
      ),
      confirmation_code: Type.Optional(
        Type.String({
          minLength: 4,
          maxLength: 40,
          pattern: '^[!-~]+$',
          writeOnly: true,
          description:
            'A code that the device will ask its user for, to be told apart from the QR code. A secret: it is not shown again.',
          examples: ['4711-0815'],
        }),
      ),
      metadata: Type.Optional(metadataSchema),
      description: Type.Optional(Type.String({ maxLength: 500 })),
    },
    { additionalProperties: false },
  ),
  status: 202,
  response: Execution,
  refusals: ['resource_missing', 'state_conflict'],
});

export const listEsims = operation({
  method: 'GET',
  path: '/v1/esims',
  tag: 'eSIMs',
  summary: 'List eSIMs',
  description: 'Every eSIM of the account. Install profiles are not in the list: they are secrets.',
  scope: 'read',
  query: listQuery({
    status: Type.Optional(Type.Enum([...esimStatuses])),
    product_id: Type.Optional(Type.String({ maxLength: 100 })),
  }),
  status: 200,
  response: listOf(Esim, 'EsimList'),
  refusals: ['cursor_invalid'],
});

export const getEsim = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}',
  tag: 'eSIMs',
  summary: 'Get an eSIM',
  description: 'One eSIM as it stands now.',
  scope: 'read',
  params: iccidParams,
  status: 200,
  response: Esim,
  refusals: ['resource_missing'],
});

export const getInstallProfile = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/install',
  tag: 'eSIMs',
  summary: 'Get the install profile',
  description:
    'The LPA string, its QR code and install links, once the eSIM is provisioned. ' +
    'With `Accept: image/png` or `image/svg+xml` the answer is the QR code itself.',
  scope: 'install',
  params: iccidParams,
  status: 200,
  response: InstallProfile,
  pictures: ['image/png', 'image/svg+xml'],
  refusals: ['resource_missing', 'esim_not_ready', 'state_conflict'],
});

function change(verb: 'suspend' | 'resume', summary: string, description: string) {
  return operation({
    method: 'POST',
    path: `/v1/esims/{iccid}/${verb}`,
    tag: 'eSIMs',
    summary,
    description,
    scope: 'write',
    params: iccidParams,
    status: 202,
    response: Execution,
    refusals: ['resource_missing', 'state_conflict', 'core_not_connected'],
  });
}

export const suspendEsim = change(
  'suspend',
  'Suspend an eSIM',
  'Takes it off the network until it is resumed. An `esim.suspended` event follows.',
);

export const resumeEsim = change(
  'resume',
  'Resume an eSIM',
  'Brings a suspended eSIM back to what it was. An `esim.resumed` event follows.',
);

export const terminateEsim = operation({
  method: 'DELETE',
  path: '/v1/esims/{iccid}',
  tag: 'eSIMs',
  summary: 'Terminate an eSIM',
  description: 'Ends it for good and cancels its bundles. An `esim.terminated` event follows.',
  scope: 'write',
  params: iccidParams,
  status: 202,
  response: Execution,
  refusals: ['resource_missing', 'state_conflict'],
});
