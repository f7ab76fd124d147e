import type { Static } from 'typebox';
import { exampleIccid, exampleId, exampleTime } from './example-values.ts';
import { iccidParams } from './iccid.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { idParams, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

const example = {
  id: exampleId(idPrefixes.erasure),
  object: 'erasure',
  target: { type: 'esim', id: exampleIccid },
  status: 'pending',
  requested_at: exampleTime,
  finished_at: null,
};

export const Erasure = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.erasure) }),
    object: Type.Literal('erasure'),
    target: Type.Object(
      {
        type: Type.Enum(['esim', 'account']),
        id: Type.String({ description: 'ICCID of the eSIM, or id of the account.' }),
      },
      { description: 'What is erased.' },
    ),
    status: Type.Enum(['pending', 'finished']),
    requested_at: unixSeconds('When it was requested.'),
    finished_at: nullableUnixSeconds('When the personal data was gone; null until then.'),
  },
  {
    title: 'Erasure',
    description: 'The removal of personal data of an eSIM or of a whole account.',
    examples: [example],
  },
);

export type Erasure = Static<typeof Erasure>;

const finished = { ...example, status: 'finished', finished_at: exampleTime + 2 };
const ofAccount = { type: 'account', id: exampleId(idPrefixes.account) };
const accountParams = idParams(idPrefixes.account, 'Id of the account (`acct_…`).');

export const eraseEsim = operation({
  method: 'POST',
  path: '/v1/esims/{iccid}/erase',
  tag: 'eSIMs',
  summary: 'Erase an eSIM’s personal data',
  description:
    'Removes the EID, reference, metadata, description, countries, the activation code, install links and the addresses of those who viewed them, from the eSIM and from its orders, bundles, events and stored answers. It starts at once. The eSIM must be terminated. What stays is its ICCID, its status, its usage in bytes, and who did what when. An event `esim.erased` follows, so that your own systems can do the same. This cannot be undone. Erasing it again returns the same erasure.',
  scope: 'admin',
  audit: { action: 'esim.erasure_requested', target: 'esim' },
  allowedWhenSuspended: true,
  params: iccidParams,
  status: 202,
  response: Erasure,
  refusals: ['resource_missing', 'state_conflict'],
});

export const getEsimErasure = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/erasure',
  tag: 'eSIMs',
  summary: 'Get an eSIM’s erasure',
  description: 'Returns whether the personal data of the eSIM is gone. 404 if it was never asked for.',
  scope: 'read',
  params: iccidParams,
  status: 200,
  response: Erasure,
  responseExample: finished,
  refusals: ['resource_missing'],
});

export const eraseAccount = operation({
  method: 'POST',
  path: '/v1/operator/accounts/{id}/erase',
  tag: 'Operator accounts',
  summary: 'Erase an account’s personal data',
  description:
    'Removes what `POST /v1/esims/{iccid}/erase` removes, of every eSIM and order of the account, and its name, branding, webhook endpoints, consumers, request log, names and networks of its keys, and the addresses and values in its audit log. The account must have been closed with `terminate_esims`; erasing begins when the closing is finished. Sums and who did what when stay. This cannot be undone: export what you need first. Erasing it again returns the same erasure.',
  scope: 'operator',
  audit: { action: 'account.erasure_requested', target: 'account' },
  params: accountParams,
  status: 202,
  response: Erasure,
  responseExample: { ...example, target: ofAccount },
  refusals: ['resource_missing', 'state_conflict'],
});

export const getAccountErasure = operation({
  method: 'GET',
  path: '/v1/operator/accounts/{id}/erasure',
  tag: 'Operator accounts',
  summary: 'Get an account’s erasure',
  description: 'Returns whether the personal data of the account is gone. 404 if it was never asked for.',
  scope: 'operator',
  params: accountParams,
  status: 200,
  response: Erasure,
  responseExample: { ...finished, target: ofAccount },
  refusals: ['resource_missing'],
});
