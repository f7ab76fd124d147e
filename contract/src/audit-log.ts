import type { Static } from 'typebox';
import {
  type AuditWay,
  auditActions,
  auditActorTypes,
  auditTargetTypes,
  auditWays,
} from './audit-actions.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { createdFilters } from './filters.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableString, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const auditEntryExample = {
  id: exampleId(idPrefixes.auditEntry),
  object: 'audit_entry',
  actor: { type: 'api_key', id: exampleId(idPrefixes.apiKey), name: 'Backend' },
  action: 'webhook_endpoint.updated',
  target: { type: 'webhook_endpoint', id: exampleId(idPrefixes.webhookEndpoint) },
  changes: { status: { from: 'enabled', to: 'disabled' } },
  request_id: exampleId(idPrefixes.request),
  ip: '203.0.113.7',
  via: 'dashboard',
  created: exampleTime,
};

export const auditEntryFields = {
  id: Type.String({ pattern: idPattern(idPrefixes.auditEntry) }),
  object: Type.Literal('audit_entry'),
  actor: Type.Object(
    {
      type: Type.Enum([...auditActorTypes]),
      id: nullableString({ description: 'The key’s id.' }),
      name: nullableString({ description: 'The key’s name at that time.' }),
    },
    { description: 'Who did it. An account sees its operator without id and address.' },
  ),
  action: Type.Enum([...auditActions], { description: 'What happened to the target.' }),
  target: Type.Object({
    type: Type.Enum([...auditTargetTypes]),
    id: Type.String({ description: 'The target’s id: an ICCID for an eSIM.' }),
  }),
  changes: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'What was changed, by field: `from` and `to` for an update, otherwise the details of the action. It contains no secrets: URLs are shown without query and credentials, and for metadata only the names of the changed entries.',
    }),
  ),
  request_id: nullableString({ description: 'The request that did it. Null for the server’s command line.' }),
  ip: nullableString({ description: 'The client’s address. Null for the server’s command line.' }),
  via: Type.Unsafe<AuditWay | null>({
    type: ['string', 'null'],
    enum: [...auditWays, null],
    description:
      'How it reached the server: `api`, `dashboard`, `agent` (a tool call to `/mcp`) or `command_line`. Null for what the operator did, and for entries from before this was recorded.',
  }),
  created: unixSeconds('When it happened.'),
};

export const AuditEntry = Type.Object(auditEntryFields, {
  title: 'AuditEntry',
  description:
    'Something that was changed, or a secret that was shown again. It is written in the same transaction as the change, so it exists if and only if the change was made.',
  examples: [auditEntryExample],
});

export type AuditEntry = Static<typeof AuditEntry>;

export const auditFilters = {
  action: Type.Optional(Type.Enum([...auditActions], { description: 'Only entries with this action.' })),
  target: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Only entries about the object with this id, or about the eSIM with this ICCID.',
      examples: [auditEntryExample.target.id],
    }),
  ),
  ...createdFilters('entries'),
};

export const listAuditLog = operation({
  method: 'GET',
  path: '/v1/audit_log',
  tag: 'Audit log',
  summary: 'List the audit log',
  description:
    'Returns who changed what: every write, by API, dashboard or agent, every view of an activation code, every answer that showed a secret again, and what the operator did in the account.',
  scope: 'admin',
  query: listQuery({
    actor: Type.Optional(
      Type.String({
        pattern: `${idPattern(idPrefixes.apiKey)}|^operator$`,
        description: 'Only entries by the key with this id, or by the `operator`.',
        examples: [auditEntryExample.actor.id],
      }),
    ),
    ...auditFilters,
  }),
  status: 200,
  response: listOf(AuditEntry, 'AuditEntryList'),
  refusals: ['cursor_invalid'],
});
