import { type Static, Type } from 'typebox';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableInteger, nullableString, unixSeconds } from './schema.ts';

export const executionTypes = [
  'esim.provision',
  'esim.suspend',
  'esim.resume',
  'esim.terminate',
  'bundle.add',
] as const;
export const executionStatuses = ['queued', 'running', 'succeeded', 'failed'] as const;

export type ExecutionType = (typeof executionTypes)[number];
export type ExecutionStatus = (typeof executionStatuses)[number];

/** Why work may fail for good. */
export const executionErrorCodes = [
  'declined',
  'out_of_stock',
  'network_unavailable',
  'outcome_unknown',
  'state_conflict',
  'product_missing',
  'internal',
] as const;

export type ExecutionErrorCode = (typeof executionErrorCodes)[number];

const executionId = { pattern: idPattern(idPrefixes.execution) };

export const Execution = Type.Object(
  {
    id: Type.String(executionId),
    object: Type.Literal('execution'),
    execution_id: Type.String({
      ...executionId,
      description: 'The same as `id`, named as in the data of events.',
    }),
    type: Type.Enum([...executionTypes], { description: 'What was asked for.' }),
    status: Type.Enum([...executionStatuses]),
    product_id: nullableString({ description: 'The product that was asked for.' }),
    iccid: nullableString({ description: 'The eSIM it is about; null until it is known.' }),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Enum([...executionErrorCodes], { description: 'Why, from a closed list.' }),
          message: Type.String({ description: 'The cause and what to do about it.' }),
          retryable: Type.Boolean({ description: 'Whether a new order may succeed.' }),
          upstream: Type.Optional(
            Type.Record(Type.String(), Type.String(), { description: 'What the network itself said.' }),
          ),
        },
        { description: 'Why it failed; present when `status` is `failed`.' },
      ),
    ),
    attempts: Type.Integer({ minimum: 0, description: 'How often the network was tried.' }),
    created: unixSeconds('When it was accepted.'),
    finished_at: nullableInteger({ description: 'When it succeeded or failed. Unix time in seconds.' }),
  },
  { title: 'Execution', description: 'One asynchronous piece of work and how it stands.' },
);

export type Execution = Static<typeof Execution>;

export const listExecutions = operation({
  method: 'GET',
  path: '/v1/executions',
  tag: 'Executions',
  summary: 'List executions',
  description: 'Everything the account asked for, with how it stands.',
  scope: 'read',
  query: listQuery({ status: Type.Optional(Type.Enum([...executionStatuses])) }),
  status: 200,
  response: listOf(Execution, 'ExecutionList'),
  refusals: ['cursor_invalid'],
});

export const getExecution = operation({
  method: 'GET',
  path: '/v1/executions/{id}',
  tag: 'Executions',
  summary: 'Get an execution',
  description: 'How one piece of work stands.',
  scope: 'read',
  params: Type.Object({ id: Type.String({ description: 'The `exec_…` id that the write answered with.' }) }),
  status: 200,
  response: Execution,
  refusals: ['resource_missing'],
});
