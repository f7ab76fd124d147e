import type { Static } from 'typebox';
import { currentApiVersion } from './api-version.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation, scopes } from './operation.ts';
import { nullableObject, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const Identity = Type.Object(
  {
    object: Type.Literal('identity'),
    account: nullableObject(
      {
        id: Type.String({ pattern: idPattern(idPrefixes.account) }),
        name: Type.String(),
      },
      { description: 'Null for an operator’s key, which belongs to no account.' },
    ),
    api_key: Type.Object({
      id: Type.String({ pattern: idPattern(idPrefixes.apiKey) }),
      name: Type.String(),
      scopes: Type.Array(Type.Enum([...scopes])),
      last4: Type.String({ description: 'Last four characters of the key.' }),
      created: unixSeconds('When the key was created.'),
    }),
    mode: Type.Enum(['sandbox', 'live'], { description: 'Whether this deployment is a sandbox or live.' }),
    livemode: Type.Boolean({ description: 'Whether real networks and real money are involved.' }),
    api_version: Type.String({
      description: 'API version of this response.',
      examples: [currentApiVersion],
    }),
  },
  {
    title: 'Identity',
    description: 'The account and API key that made the request.',
    examples: [
      {
        object: 'identity',
        account: { id: exampleId(idPrefixes.account), name: 'Acme Travel' },
        api_key: {
          id: exampleId(idPrefixes.apiKey),
          name: 'Backend',
          scopes: ['read', 'write'],
          last4: 'x7Qd',
          created: exampleTime,
        },
        mode: 'sandbox',
        livemode: false,
        api_version: currentApiVersion,
      },
    ],
  },
);

export type Identity = Static<typeof Identity>;

export const getMe = operation({
  method: 'GET',
  path: '/v1/me',
  tag: 'Identity',
  summary: 'Get the current account and key',
  description:
    'Returns the account, the scopes of the key and the mode of the deployment. Use it to check that a key works: it answers every valid key, whatever its scopes.',
  scope: null,
  status: 200,
  response: Identity,
  refusals: [],
});
