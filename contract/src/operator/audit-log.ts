import type { Static } from 'typebox';
import { auditEntryExample, auditEntryFields, auditFilters } from '../audit-log.ts';
import { exampleId } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { nullableString } from '../schema.ts';
import { Type } from '../type.ts';

const accountId = exampleId(idPrefixes.account);

export const OperatorAuditEntry = Type.Object(
  {
    ...auditEntryFields,
    account_id: nullableString({
      pattern: idPattern(idPrefixes.account),
      description: 'The account it concerns; null if it concerns the deployment.',
    }),
  },
  {
    title: 'OperatorAuditEntry',
    description: 'An entry of the audit log with its account, and with the operator’s keys and addresses.',
    examples: [{ ...auditEntryExample, account_id: accountId }],
  },
);

export type OperatorAuditEntry = Static<typeof OperatorAuditEntry>;

export const listOperatorAuditLog = operation({
  method: 'GET',
  path: '/v1/operator/audit_log',
  tag: 'Operator audit log',
  summary: 'List the audit log of all accounts',
  description:
    'Returns the entries of all accounts and of the deployment: what accounts’ keys, operators’ keys and the server’s command line did.',
  scope: 'operator',
  query: listQuery({
    account_id: Type.Optional(
      Type.String({
        pattern: idPattern(idPrefixes.account),
        description: 'Only entries that concern this account.',
        examples: [accountId],
      }),
    ),
    actor: Type.Optional(
      Type.String({
        pattern: `${idPattern(idPrefixes.apiKey)}|^command_line$`,
        description: 'Only entries by the key with this id, or by the `command_line`.',
        examples: [auditEntryExample.actor.id],
      }),
    ),
    ...auditFilters,
  }),
  status: 200,
  response: listOf(OperatorAuditEntry, 'OperatorAuditEntryList'),
  refusals: ['cursor_invalid'],
});
