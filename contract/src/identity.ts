import { type Static, Type } from 'typebox';
import { currentApiVersion } from './api-version.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation, scopes } from './operation.ts';
import { unixSeconds } from './schema.ts';

export const Identity = Type.Object(
  {
    object: Type.Literal('identity'),
    account: Type.Object({
      id: Type.String({ pattern: idPattern(idPrefixes.account) }),
      name: Type.String(),
    }),
    api_key: Type.Object({
      id: Type.String({ pattern: idPattern(idPrefixes.apiKey) }),
      name: Type.String(),
      scopes: Type.Array(Type.Enum([...scopes])),
      last4: Type.String({ description: 'The last four characters of the key, to recognise it by.' }),
      created: unixSeconds('When the key was created.'),
    }),
    mode: Type.Enum(['sandbox', 'live'], { description: 'What this deployment is.' }),
    livemode: Type.Boolean({ description: 'True when real networks and real money are involved.' }),
    api_version: Type.String({
      description: 'The version this request was answered in.',
      examples: [currentApiVersion],
    }),
  },
  { title: 'Identity', description: 'Who the caller is.' },
);

export type Identity = Static<typeof Identity>;

export const getMe = operation({
  method: 'GET',
  path: '/v1/me',
  tag: 'Identity',
  summary: 'Who am I?',
  description:
    'Confirms that the key works, and tells its account, its scopes and the mode of the deployment.',
  scope: 'read',
  status: 200,
  response: Identity,
  refusals: [],
});
