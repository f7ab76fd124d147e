import type { Static } from 'typebox';
import { DryRun, dryRunInput } from './dry-run.ts';
import {
  exampleIccid,
  exampleId,
  exampleProductId,
  exampleProfileError,
  exampleTime,
} from './example-values.ts';
import { Execution, queuedExample } from './execution.ts';
import { createdFilters, metadataFilter } from './filters.ts';
import { iccid, iccidParams } from './iccid.ts';
import { idPrefixes } from './ids.ts';
import { descriptionInput, metadataInput, metadataSchema } from './metadata.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { referenceFilter, referenceInput, referenceSchema } from './reference.ts';
import { nullableString, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { EsimService } from './service.ts';
import { Type } from './type.ts';

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

/** Why a device could not download or install a profile. */
export const profileErrorCodes = [
  'activation_code_refused',
  'confirmation_code_refused',
  'device_memory_full',
  'device_not_eligible',
  'device_not_trusted',
  'device_refused',
  'download_expired',
  'profile_not_available',
  'other',
] as const;

export const ProfileError = Type.Object(
  {
    code: Type.Enum([...profileErrorCodes], { description: 'Reason, from a closed list.' }),
    message: Type.String({ description: 'The cause and what to do about it.' }),
    upstream: Type.Record(Type.String(), Type.String(), {
      description:
        'The network’s own codes (SGP.22): `subject_code`, `reason_code`, `notification_point_id`.',
    }),
  },
  {
    title: 'ProfileError',
    description: 'Why the last download or installation failed.',
    examples: [exampleProfileError],
  },
);

export type ProfileError = Static<typeof ProfileError>;

export const productId = {
  minLength: 1,
  maxLength: 100,
  description: 'Id of the product to provision.',
  examples: [exampleProductId],
};

export const eid = {
  minLength: 32,
  maxLength: 32,
  pattern: '^[0-9]+$',
  examples: ['89882119900000000000000000001654'],
};

export const Esim = Type.Object(
  {
    iccid,
    object: Type.Literal('esim'),
    status: Type.Enum([...esimStatuses], {
      description: 'Lifecycle status. Authoritative: `profile.state` never changes it.',
    }),
    profile: Type.Object(
      {
        state: Type.Enum([...profileStates]),
        updated_at: nullableUnixSeconds('When the network observed this state.'),
        error: Type.Optional(ProfileError),
      },
      {
        description:
          'State of the profile on a device, as last observed by the network. `error` says why if `state` is `error`.',
      },
    ),
    product_id: Type.String(),
    eid: nullableString({ description: 'EID of the device, if known.' }),
    reference: referenceSchema,
    description: nullableString({}),
    metadata: metadataSchema,
    country: nullableString({
      description:
        'Country where the eSIM was last seen, as an ISO 3166-1 alpha-2 code; null if the network has not reported one.',
    }),
    uncovered_bytes: Type.Integer({
      minimum: 0,
      description:
        'Bytes used that no bundle covers: in a country without one, or when all were used up. Not part of any bundle’s `used_bytes`.',
    }),
    service: EsimService,
    created: unixSeconds('When the eSIM was ordered.'),
    provisioned_at: nullableUnixSeconds('When the eSIM became ready to install.'),
  },
  {
    title: 'Esim',
    description: 'An eSIM profile.',
    examples: [
      {
        iccid: exampleIccid,
        object: 'esim',
        status: 'provisioned',
        profile: { state: 'released', updated_at: exampleTime + 2 },
        product_id: exampleProductId,
        eid: null,
        reference: 'TRV-1007',
        description: null,
        metadata: { order_id: 'A-1001' },
        country: null,
        uncovered_bytes: 0,
        service: {
          state: 'full',
          reason: null,
          kbps: null,
          bundle_id: exampleId(idPrefixes.bundle),
          until: null,
          version: 1,
          since: exampleTime + 2,
          applied_version: 1,
          applied_at: exampleTime + 3,
        },
        created: exampleTime,
        provisioned_at: exampleTime + 2,
      },
    ],
  },
);

export type Esim = Static<typeof Esim>;

export const InstallProfile = Type.Object(
  {
    object: Type.Literal('install_profile'),
    iccid,
    lpa: Type.String({
      description: 'LPA string that the QR code encodes.',
      examples: ['LPA:1$smdp.example.com$K2-1B3D-9XY'],
    }),
    activation_code: Type.String({
      description: 'The LPA string without `LPA:`, for manual entry.',
      examples: ['1$smdp.example.com$K2-1B3D-9XY'],
    }),
    smdp_address: Type.String({ examples: ['smdp.example.com'] }),
    matching_id: Type.String({ examples: ['K2-1B3D-9XY'] }),
    confirmation_code_required: Type.Boolean({
      description: 'Whether the device asks for a confirmation code.',
    }),
    qr: Type.Object({
      svg: Type.String({ description: 'QR code as a data URI.' }),
      png: Type.String({ description: 'QR code as a data URI.' }),
    }),
    ios_install_url: Type.String({ description: 'Installs without a QR code on iOS 17.4 and later.' }),
    android_install_url: Type.String({
      description: 'Installs without a QR code where Android supports it.',
    }),
    profile_state: Type.Enum([...profileStates], { description: 'Same as `profile.state` of the eSIM.' }),
    profile_error: Type.Optional(ProfileError),
  },
  {
    title: 'InstallProfile',
    description: 'Data to install the eSIM on a device. Treat it as a secret.',
    examples: [
      {
        object: 'install_profile',
        iccid: exampleIccid,
        lpa: 'LPA:1$smdp.example.com$K2-1B3D-9XY',
        activation_code: '1$smdp.example.com$K2-1B3D-9XY',
        smdp_address: 'smdp.example.com',
        matching_id: 'K2-1B3D-9XY',
        confirmation_code_required: false,
        qr: { svg: 'data:image/svg+xml;base64,PHN2Zy8+', png: 'data:image/png;base64,iVBORw0KGgo=' },
        ios_install_url:
          'https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:1$smdp.example.com$K2-1B3D-9XY',
        android_install_url:
          'https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA:1$smdp.example.com$K2-1B3D-9XY',
        profile_state: 'released',
      },
    ],
  },
);

export type InstallProfile = Static<typeof InstallProfile>;

export const createEsim = operation({
  method: 'POST',
  path: '/v1/esims',
  tag: 'eSIMs',
  summary: 'Provision an eSIM',
  description:
    'Stores the order durably and immediately returns an execution. Send an `Idempotency-Key` so that a retry after a ' +
    'timeout never orders twice. An `esim.provisioned` event follows.',
  scope: 'write',
  audit: { action: 'esim.ordered', target: 'execution' },
  body: Type.Object(
    {
      product_id: Type.String(productId),
      eid: Type.Optional(
        nullableString({
          ...eid,
          description:
            'Binds the profile to the device with this 32-digit EID. If null or omitted, any device can install it.',
        }),
      ),
      confirmation_code: Type.Optional(
        Type.String({
          minLength: 4,
          maxLength: 40,
          pattern: '^[!-~]+$',
          writeOnly: true,
          description:
            'Code that the device asks its user for. Share it separately from the QR code. It is a secret and is never returned.',
          examples: ['4711-0815'],
        }),
      ),
      reference: Type.Optional(referenceInput),
      metadata: Type.Optional(metadataInput),
      description: Type.Optional(descriptionInput),
      dry_run: Type.Optional(dryRunInput),
    },
    {
      additionalProperties: false,
      examples: [{ product_id: exampleProductId, reference: 'TRV-1007' }],
    },
  ),
  status: 202,
  alsoReturns: { status: 200, response: DryRun },
  response: Execution,
  responseExample: { ...queuedExample('esim.provision'), iccid: null },
  refusals: ['resource_missing', 'state_conflict', 'execution_limit_reached'],
});

export const listEsims = operation({
  method: 'GET',
  path: '/v1/esims',
  tag: 'eSIMs',
  summary: 'List eSIMs',
  description: 'Returns the account’s eSIMs. Install profiles are secrets and are not included.',
  scope: 'read',
  query: listQuery({
    status: Type.Optional(Type.Enum([...esimStatuses], { description: 'Only eSIMs in this status.' })),
    product_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Only eSIMs that were ordered with this product.',
        examples: [exampleProductId],
      }),
    ),
    eid: Type.Optional(Type.String({ ...eid, description: 'Only eSIMs of the device with this EID.' })),
    reference: Type.Optional(referenceFilter('eSIMs')),
    metadata: Type.Optional(metadataFilter),
    ...createdFilters('eSIMs'),
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
  description: 'Returns the current state of an eSIM.',
  scope: 'read',
  params: iccidParams,
  status: 200,
  response: Esim,
  refusals: ['resource_missing'],
});

export const updateEsim = operation({
  method: 'PATCH',
  path: '/v1/esims/{iccid}',
  tag: 'eSIMs',
  summary: 'Update an eSIM',
  description:
    'Changes the given fields only, in any status of the eSIM. `metadata` is merged: a null value removes its key.',
  scope: 'write',
  audit: { action: 'esim.updated', target: 'esim' },
  params: iccidParams,
  body: Type.Object(
    {
      metadata: Type.Optional(metadataInput),
      description: Type.Optional(descriptionInput),
    },
    { additionalProperties: false, examples: [{ metadata: { order_id: 'A-1002', campaign: null } }] },
  ),
  status: 200,
  response: Esim,
  refusals: ['resource_missing', 'state_conflict'],
});

export const getInstallProfile = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/install',
  tag: 'eSIMs',
  summary: 'Get the install profile',
  description:
    'Returns the LPA string, QR code and install links of a provisioned eSIM. ' +
    'With `Accept: image/png` or `image/svg+xml`, returns the QR code image instead.',
  scope: 'install',
  params: iccidParams,
  status: 200,
  response: InstallProfile,
  pictures: ['image/png', 'image/svg+xml'],
  refusals: ['resource_missing', 'esim_not_ready', 'state_conflict'],
});

const changeActions = { suspend: 'esim.suspension_ordered', resume: 'esim.resumption_ordered' } as const;

function change(verb: 'suspend' | 'resume', summary: string, description: string) {
  return operation({
    method: 'POST',
    path: `/v1/esims/{iccid}/${verb}`,
    tag: 'eSIMs',
    summary,
    description,
    scope: 'write',
    audit: { action: changeActions[verb], target: 'esim' },
    params: iccidParams,
    status: 202,
    response: Execution,
    responseExample: queuedExample(`esim.${verb}`),
    refusals: ['resource_missing', 'state_conflict', 'core_not_connected', 'execution_limit_reached'],
  });
}

export const suspendEsim = change(
  'suspend',
  'Suspend an eSIM',
  'Takes the eSIM off the network until it is resumed. An `esim.suspended` event follows.',
);

export const resumeEsim = change(
  'resume',
  'Resume an eSIM',
  'Returns a suspended eSIM to its previous status. An `esim.resumed` event follows.',
);

export const terminateEsim = operation({
  method: 'DELETE',
  path: '/v1/esims/{iccid}',
  tag: 'eSIMs',
  summary: 'Terminate an eSIM',
  description: 'Permanently terminates the eSIM and cancels its bundles. An `esim.terminated` event follows.',
  scope: 'write',
  audit: { action: 'esim.termination_ordered', target: 'esim' },
  params: iccidParams,
  status: 202,
  response: Execution,
  responseExample: queuedExample('esim.terminate'),
  refusals: ['resource_missing', 'state_conflict', 'execution_limit_reached'],
});
