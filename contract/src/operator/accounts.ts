import type { Static } from 'typebox';
import { ApiKey, apiKeyList, exampleNewApiKey, newApiKey, RevokedApiKey } from '../api-key.ts';
import { currentApiVersion } from '../api-version.ts';
import { exampleId, exampleTime } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { idParams, nullableInteger, nullableObject, nullableUnixSeconds, unixSeconds } from '../schema.ts';
import { oneLinePattern } from '../text-patterns.ts';
import { Type } from '../type.ts';

const example = {
  id: exampleId(idPrefixes.account),
  object: 'account',
  name: 'Acme Travel',
  status: 'active',
  max_webhook_endpoints: null,
  max_open_executions: 10_000,
  requests_per_second: 50,
  api_version: currentApiVersion,
  created: exampleTime,
  closed_at: null,
  closing: null,
};

const openStatuses = ['active', 'suspended'] as const;
const accountStatuses = [...openStatuses, 'closed'] as const;

const limits = {
  max_webhook_endpoints: nullableInteger({
    minimum: 0,
    maximum: 1_000_000,
    description: 'Maximum number of webhook endpoints; null: the deployment’s limit.',
  }),
  max_open_executions: nullableInteger({
    minimum: 0,
    maximum: 1_000_000,
    description: 'Maximum number of queued and running executions; null: no limit.',
  }),
  requests_per_second: nullableInteger({
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Requests per second of all its keys together, in each process, with a burst of twice that; null: the deployment’s limit per key.',
  }),
};

export const Account = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.account) }),
    object: Type.Literal('account'),
    name: Type.String(),
    status: Type.Enum([...accountStatuses], {
      description:
        'A suspended account can read and revoke keys, but not write. A closed one has no keys that work, and is not opened again.',
    }),
    ...limits,
    api_version: Type.String({ description: 'The API version of its requests without `Service-Version`.' }),
    created: unixSeconds('When the account was created.'),
    closed_at: nullableUnixSeconds('When the account was closed; null if it is open.'),
    closing: nullableObject(
      {
        terminate_esims: Type.Boolean({ description: 'Whether its eSIMs are terminated.' }),
        terminations: Type.Integer({ description: 'Terminations ordered so far.' }),
        finished_at: nullableUnixSeconds(
          'When its last order had ended, and the last termination with it; null until then.',
        ),
      },
      { description: 'How far the closing has come; null for an open account.' },
    ),
  },
  {
    title: 'Account',
    description: 'A tenant of the deployment, as its operator sees it.',
    examples: [example],
  },
);

export type Account = Static<typeof Account>;

const params = idParams(idPrefixes.account, 'Id of the account (`acct_…`).');
const tag = 'Operator accounts';
const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: oneLinePattern,
  description: 'Its name.',
  examples: ['Acme Travel'],
});
const limitInputs = {
  max_webhook_endpoints: Type.Optional(limits.max_webhook_endpoints),
  max_open_executions: Type.Optional(limits.max_open_executions),
  requests_per_second: Type.Optional(limits.requests_per_second),
};

export const createAccount = operation({
  method: 'POST',
  path: '/v1/operator/accounts',
  tag,
  summary: 'Create an account',
  description:
    'Creates an account without keys. Create its first key with `POST /v1/operator/accounts/{id}/api_keys`.',
  scope: 'operator',
  audit: { action: 'account.created', target: 'account' },
  body: Type.Object(
    { name, ...limitInputs },
    {
      additionalProperties: false,
      examples: [{ name: 'Acme Travel', max_open_executions: 10_000, requests_per_second: 50 }],
    },
  ),
  status: 201,
  response: Account,
  refusals: [],
});

export const listAccounts = operation({
  method: 'GET',
  path: '/v1/operator/accounts',
  tag,
  summary: 'List accounts',
  description: 'Returns the accounts of the deployment.',
  scope: 'operator',
  query: listQuery({}),
  status: 200,
  response: listOf(Account, 'AccountList'),
  refusals: ['cursor_invalid'],
});

export const getAccount = operation({
  method: 'GET',
  path: '/v1/operator/accounts/{id}',
  tag,
  summary: 'Get an account',
  description: 'Returns an account with its status and limits.',
  scope: 'operator',
  params,
  status: 200,
  response: Account,
  refusals: ['resource_missing'],
});

export const updateAccount = operation({
  method: 'PATCH',
  path: '/v1/operator/accounts/{id}',
  tag,
  summary: 'Update an account',
  description:
    'Changes the given fields only, on every process within 5 seconds. `status: "suspended"` refuses the account’s writes, except that it may revoke keys; its open orders and deliveries continue. A null limit restores the default. A closed account cannot be changed.',
  scope: 'operator',
  audit: { action: 'account.updated', target: 'account' },
  params,
  body: Type.Object(
    {
      name: Type.Optional(name),
      status: Type.Optional(
        Type.Enum([...openStatuses], { description: 'Suspends or reactivates the account.' }),
      ),
      ...limitInputs,
    },
    { additionalProperties: false, examples: [{ status: 'suspended', max_webhook_endpoints: 20 }] },
  ),
  status: 200,
  response: Account,
  responseExample: { ...example, status: 'suspended', max_webhook_endpoints: 20 },
  refusals: ['resource_missing', 'state_conflict'],
});

export const closeAccount = operation({
  method: 'DELETE',
  path: '/v1/operator/accounts/{id}',
  tag,
  summary: 'Close an account',
  description:
    'Revokes its keys, signs its sessions out, disables its webhook endpoints and ends its install links, on every process within 5 seconds. Orders that have not reached the network are canceled; others go to their end. With `terminate_esims` its eSIMs are terminated then, a few at a time; `closing` shows how far it has come. A closed account is not opened again; operators can read it with `Service-Account`, and erase it. Closing it again changes nothing, except that `terminate_esims` can be added.',
  scope: 'operator',
  audit: { action: 'account.closed', target: 'account' },
  params,
  query: Type.Object(
    {
      terminate_esims: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether to terminate its eSIMs. This cannot be undone.',
          examples: [true],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: Account,
  responseExample: {
    ...example,
    status: 'closed',
    closed_at: exampleTime + 86_400,
    closing: { terminate_esims: true, terminations: 0, finished_at: null },
  },
  refusals: ['resource_missing'],
});

export const createAccountApiKey = operation({
  method: 'POST',
  path: '/v1/operator/accounts/{id}/api_keys',
  tag,
  summary: 'Create an account’s API key',
  description:
    'The response contains the key. Only a retry with the same `Idempotency-Key` returns it again. The account sees that the operator created it.',
  scope: 'operator',
  audit: { action: 'api_key.created', target: 'api_key' },
  params,
  body: newApiKey,
  status: 201,
  response: ApiKey,
  responseExample: exampleNewApiKey,
  refusals: ['resource_missing', 'api_key_limit_reached', 'state_conflict'],
});

export const listAccountApiKeys = operation({
  method: 'GET',
  path: '/v1/operator/accounts/{id}/api_keys',
  tag,
  summary: 'List an account’s API keys',
  description: 'Returns the account’s keys, also those that expired or were revoked.',
  scope: 'operator',
  params,
  query: listQuery({}),
  status: 200,
  response: apiKeyList,
  refusals: ['cursor_invalid', 'resource_missing'],
});

export const deleteAccountApiKey = operation({
  method: 'DELETE',
  path: '/v1/operator/accounts/{id}/api_keys/{key_id}',
  tag,
  summary: 'Revoke an account’s API key',
  description:
    'Every process refuses the key within 5 seconds. It stays in the list with `revoked_at`; revoking it again changes nothing. An operator may revoke an account’s last key.',
  scope: 'operator',
  audit: { action: 'api_key.revoked', target: 'api_key' },
  params: Type.Object({
    ...params.properties,
    key_id: Type.String({
      description: 'Id of the key (`key_…`).',
      examples: [exampleId(idPrefixes.apiKey)],
    }),
  }),
  status: 200,
  response: RevokedApiKey,
  refusals: ['resource_missing'],
});
