import type { Static } from 'typebox';
import { actorTypes } from './audit-actions.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { accountScopes, operation, scopes } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import {
  idParams,
  nullableInteger,
  nullableObject,
  nullableString,
  nullableUnixSeconds,
  unixSeconds,
} from './schema.ts';
import { oneLinePattern } from './text-patterns.ts';
import { Type } from './type.ts';

const example = {
  id: exampleId(idPrefixes.apiKey),
  object: 'api_key',
  name: 'Backend',
  scopes: ['read', 'write'],
  last4: 'x7Qd',
  created: exampleTime,
  created_by: { type: 'api_key', id: exampleId(idPrefixes.apiKey), name: 'Admin' },
  expires_at: null,
  last_used_at: exampleTime + 3600,
  allowed_cidrs: ['203.0.113.0/24'],
  revoked_at: null,
};
const exampleWithKey = { ...example, last_used_at: null, key: `sp_test_${'EXAMPLE'.repeat(5)}x7Qd` };

export const maxAllowedCidrs = 20;

export const ApiKey = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.apiKey) }),
    object: Type.Literal('api_key'),
    name: Type.String(),
    scopes: Type.Array(Type.Enum([...scopes]), { description: 'What the key may do.' }),
    key: Type.Optional(
      Type.String({ description: 'The key itself. Returned only when it is created or rolled.' }),
    ),
    last4: Type.String({ description: 'Last four characters of the key.' }),
    created: unixSeconds('When the key was created.'),
    created_by: nullableObject(
      {
        type: Type.Enum([...actorTypes], {
          description:
            '`api_key`: a key of the account. `operator` and `command_line`: the operator of the deployment.',
        }),
        id: nullableString({ description: 'Id of the key that created it.' }),
        name: nullableString({ description: 'Name that key had then.' }),
      },
      { description: 'Who created the key; null if it was created before this was recorded.' },
    ),
    expires_at: nullableUnixSeconds('When the key stops working; null if it does not expire.'),
    last_used_at: nullableUnixSeconds('When the key was last used, to within about a minute.'),
    allowed_cidrs: Type.Array(Type.String(), {
      description: 'Networks the key may be used from. Empty: from anywhere.',
    }),
    revoked_at: nullableUnixSeconds('When the key was revoked.'),
  },
  {
    title: 'ApiKey',
    description: 'A key of an account, without its secret.',
    examples: [example],
  },
);

export type ApiKey = Static<typeof ApiKey>;

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: oneLinePattern,
  description: 'A name to recognize the key by.',
  examples: ['Backend'],
});
const scopesInput = Type.Array(Type.Enum([...accountScopes]), {
  minItems: 1,
  uniqueItems: true,
  description:
    'What the key may do. A key can only give scopes that it has itself. In live mode only the operator gives `network`.',
  examples: [['read', 'write']],
});
const expiresAt = nullableInteger({
  minimum: 0,
  maximum: 253402300799,
  description:
    'When the key stops working, in the future; null if it does not expire. Unix time in seconds. A key gives none that is later than its own, and its own if a new key has none.',
  examples: [exampleTime + 90 * 86_400],
});
const allowedCidrs = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: maxAllowedCidrs,
  uniqueItems: true,
  description: `Networks the key may be used from, in CIDR notation: IPv4 or IPv6, up to ${maxAllowedCidrs}. Empty: from anywhere. A key with networks gives only networks within its own, and its own if a new key has none.`,
  examples: [['203.0.113.0/24']],
});

/** The body of an account's and of an operator's creation. */
export const newApiKey = Type.Object(
  {
    name: Type.Optional(name),
    scopes: scopesInput,
    allowed_cidrs: Type.Optional(allowedCidrs),
    expires_at: Type.Optional(expiresAt),
  },
  {
    additionalProperties: false,
    examples: [{ name: 'Backend', scopes: ['read', 'write'], allowed_cidrs: ['203.0.113.0/24'] }],
  },
);

export const RevokedApiKey = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.apiKey) }),
    object: Type.Literal('api_key'),
    deleted: Type.Boolean({ description: 'Always `true`.' }),
  },
  {
    title: 'RevokedApiKey',
    description: 'Confirms that the key is revoked.',
    examples: [{ id: example.id, object: 'api_key', deleted: true }],
  },
);

export const apiKeyList = listOf(ApiKey, 'ApiKeyList');
export const exampleNewApiKey = exampleWithKey;

const params = idParams(idPrefixes.apiKey, 'Id of the key (`key_…`).');

export const createApiKey = operation({
  method: 'POST',
  path: '/v1/api_keys',
  tag: 'API keys',
  summary: 'Create an API key',
  description:
    'The response contains the key. Only a retry with the same `Idempotency-Key` returns it again. A key creates only keys that have no more than itself: its scopes, its networks or parts of them, and no later expiry. What is left out is inherited.',
  scope: 'admin',
  audit: { action: 'api_key.created', target: 'api_key' },
  body: newApiKey,
  status: 201,
  response: ApiKey,
  responseExample: exampleWithKey,
  refusals: ['api_key_settings_refused', 'api_key_limit_reached'],
});

export const listApiKeys = operation({
  method: 'GET',
  path: '/v1/api_keys',
  tag: 'API keys',
  summary: 'List API keys',
  description: 'Returns the account’s keys, also those that expired or were revoked.',
  scope: 'admin',
  query: listQuery({}),
  status: 200,
  response: apiKeyList,
  refusals: ['cursor_invalid'],
});

export const getApiKey = operation({
  method: 'GET',
  path: '/v1/api_keys/{id}',
  tag: 'API keys',
  summary: 'Get an API key',
  description: 'Returns a key without its secret. A revoked key has `revoked_at`.',
  scope: 'admin',
  params,
  status: 200,
  response: ApiKey,
  refusals: ['resource_missing'],
});

export const updateApiKey = operation({
  method: 'PATCH',
  path: '/v1/api_keys/{id}',
  tag: 'API keys',
  summary: 'Update an API key',
  description:
    'Changes the given fields only, on every process within 5 seconds. A key changes only keys that have no more than itself (scopes, networks, expiry), before and after the change, and of itself only the name. An expired or revoked key cannot be changed.',
  scope: 'admin',
  audit: { action: 'api_key.updated', target: 'api_key' },
  params,
  body: Type.Object(
    {
      name: Type.Optional(name),
      scopes: Type.Optional(scopesInput),
      allowed_cidrs: Type.Optional(allowedCidrs),
      expires_at: Type.Optional(expiresAt),
    },
    { additionalProperties: false, examples: [{ scopes: ['read'], allowed_cidrs: ['203.0.113.0/24'] }] },
  ),
  status: 200,
  response: ApiKey,
  responseExample: { ...example, scopes: ['read'] },
  refusals: ['resource_missing', 'state_conflict', 'api_key_settings_refused'],
});

export const deleteApiKey = operation({
  method: 'DELETE',
  path: '/v1/api_keys/{id}',
  tag: 'API keys',
  summary: 'Revoke an API key',
  description:
    'Every process refuses the key within 5 seconds. It stays in the list with `revoked_at`; revoking it again changes nothing. An account cannot revoke its last key with the `admin` scope: another must be left that works from the caller’s address, and for as long or for a day. A suspended account may revoke keys.',
  scope: 'admin',
  audit: { action: 'api_key.revoked', target: 'api_key' },
  params,
  allowedWhenSuspended: true,
  status: 200,
  response: RevokedApiKey,
  refusals: ['resource_missing', 'state_conflict'],
});

/** How long the old key goes on working, in seconds. */
export const rollOverlap = { default: 86_400, maximum: 604_800 } as const;

export const rollApiKey = operation({
  method: 'POST',
  path: '/v1/api_keys/{id}/roll',
  tag: 'API keys',
  summary: 'Roll an API key',
  description:
    'Creates a key with the same name, scopes and networks, and lets the old one expire. Both work until then. If the old key had an expiry, the new one is valid for as long as the old one was, but not longer than the key that rolls it. A key rolls only keys that have no more than itself. The response is the new key, shown once. A key can be rolled once; after that, roll its successor.',
  scope: 'admin',
  audit: { action: 'api_key.rolled', target: 'api_key' },
  params,
  body: Type.Object(
    {
      expires_in: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: rollOverlap.maximum,
          description:
            'Seconds until the old key expires; 0 means immediately. Defaults to one day; at most one week. It never extends the old key’s own expiry.',
          examples: [3600],
        }),
      ),
    },
    { additionalProperties: false, examples: [{ expires_in: 3600 }] },
  ),
  status: 201,
  response: ApiKey,
  responseExample: exampleWithKey,
  refusals: ['resource_missing', 'state_conflict', 'api_key_settings_refused', 'api_key_limit_reached'],
});
