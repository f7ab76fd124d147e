import type { Static } from 'typebox';
import { exampleIccid, exampleId, exampleProductId, exampleTime } from './example-values.ts';
import { createdFilters, severalOf } from './filters.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { priceFields } from './product.ts';
import { referenceFilter, referenceSchema } from './reference.ts';
import { idParams, nullableString, nullableUnixSeconds, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

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

/** Reasons for a permanent failure. */
export const executionErrorCodes = [
  'declined',
  'out_of_stock',
  'network_unavailable',
  'outcome_unknown',
  'state_conflict',
  'product_missing',
  'canceled',
  'superseded',
  'internal',
] as const;

export type ExecutionErrorCode = (typeof executionErrorCodes)[number];

const executionId = { pattern: idPattern(idPrefixes.execution) };

/** What `waiting_for` says of an order that no worker has claimed: why it waits, and what its account should do. */
export const waitingForWorker = [
  'It was accepted and starts automatically, usually within a second.',
  'There is nothing to do; if it still waits after a few minutes, ask the operator.',
] as const;

/** The sandbox's product whose orders wait before they reach the network, and how long. */
export const heldProduct = { id: 'prod_sandbox_held', seconds: 60 } as const;

/** `error.message` of a canceled execution. */
export const canceledMessage =
  'The account canceled it before it reached the network, so nothing was changed there. Send the request again if you need it.';

export const executionExample = {
  id: exampleId(idPrefixes.execution),
  object: 'execution',
  execution_id: exampleId(idPrefixes.execution),
  type: 'esim.provision',
  status: 'succeeded',
  product_id: exampleProductId,
  iccid: exampleIccid,
  reference: 'TRV-1007',
  attempts: 1,
  created: exampleTime,
  finished_at: exampleTime + 2,
  waiting_for: null,
  next_attempt_at: null,
};

/** The response to an order. */
export function queuedExample(type: ExecutionType) {
  return {
    ...executionExample,
    type,
    status: 'queued',
    attempts: 0,
    finished_at: null,
    waiting_for: waitingForWorker.join(' '),
    next_attempt_at: exampleTime,
  };
}

export const Execution = Type.Object(
  {
    id: Type.String(executionId),
    object: Type.Literal('execution'),
    execution_id: Type.String({
      ...executionId,
      description: 'Same as `id`, under the name that event data uses.',
    }),
    type: Type.Enum([...executionTypes], { description: 'Requested operation.' }),
    status: Type.Enum([...executionStatuses]),
    product_id: nullableString({ description: 'Requested product.' }),
    iccid: nullableString({
      description: 'ICCID of the eSIM; null until it is known, and if the order failed without an eSIM.',
    }),
    reference: referenceSchema,
    batch_id: Type.Optional(
      Type.String({
        pattern: idPattern(idPrefixes.batch),
        description: 'The batch that the order belongs to. Absent if it was ordered on its own.',
      }),
    ),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Enum([...executionErrorCodes], { description: 'Reason, from a closed list.' }),
          message: Type.String({ description: 'The cause and what to do about it.' }),
          retryable: Type.Boolean({
            description: 'Whether the same request can succeed if you send it again.',
          }),
          upstream: Type.Optional(
            Type.Record(Type.String(), Type.String(), { description: 'Error details from the network.' }),
          ),
        },
        { description: 'Why the execution failed. Present if `status` is `failed`.' },
      ),
    ),
    price: Type.Optional(
      Type.Object(priceFields, {
        description:
          'Price of the product when it was ordered. Only of `esim.provision` and `bundle.add`; the response to the order of an eSIM does not have it yet.',
      }),
    ),
    attempts: Type.Integer({ minimum: 0, description: 'Number of attempts made with the network.' }),
    created: unixSeconds('When the request was accepted.'),
    finished_at: nullableUnixSeconds('When the execution succeeded or failed.'),
    waiting_for: nullableString({
      description:
        'Why the execution is waiting, and what to do about it; null while an attempt runs and once it has ended.',
      examples: [waitingForWorker.join(' ')],
    }),
    next_attempt_at: nullableUnixSeconds(
      'Earliest time of the next attempt; null if the execution is not waiting.',
    ),
    retry_of: Type.Optional(
      Type.String({
        ...executionId,
        description: 'The failed execution that this one repeats or continues, by decision of the operator.',
      }),
    ),
    retried_by: Type.Optional(
      Type.String({
        ...executionId,
        description: 'The execution that the operator started in place of this failed one.',
      }),
    ),
  },
  {
    title: 'Execution',
    description: 'An asynchronous operation and its status.',
    examples: [executionExample],
  },
);

export type Execution = Static<typeof Execution>;

export const listExecutions = operation({
  method: 'GET',
  path: '/v1/executions',
  tag: 'Executions',
  summary: 'List executions',
  description: 'Returns the account’s executions with their status.',
  scope: 'read',
  query: listQuery({
    status: Type.Optional(
      Type.Enum([...executionStatuses], { description: 'Only executions in this status.' }),
    ),
    type: Type.Optional(
      severalOf(Type.Enum([...executionTypes]), 'Only executions of this type.', [['esim.provision']]),
    ),
    error_code: Type.Optional(
      Type.Enum([...executionErrorCodes], {
        description: 'Only failed executions with this `error.code`.',
      }),
    ),
    ...createdFilters('executions'),
    reference: Type.Optional(referenceFilter('executions')),
    batch_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Only executions of this batch.',
        examples: [exampleId(idPrefixes.batch)],
      }),
    ),
  }),
  status: 200,
  response: listOf(Execution, 'ExecutionList'),
  refusals: ['cursor_invalid'],
});

export const getExecution = operation({
  method: 'GET',
  path: '/v1/executions/{id}',
  tag: 'Executions',
  summary: 'Get an execution',
  description: 'Returns the current status of an execution.',
  scope: 'read',
  params: idParams(idPrefixes.execution, 'Id of the execution (`exec_…`).'),
  status: 200,
  response: Execution,
  refusals: ['resource_missing'],
});

export const cancelExecution = operation({
  method: 'POST',
  path: '/v1/executions/{id}/cancel',
  tag: 'Executions',
  summary: 'Cancel an execution',
  description:
    'Ends an execution that has not reached the network: it fails with the error code `canceled`. Once a call to the network may have been made, returns 409 `state_conflict`: wait until the execution has ended, then terminate the eSIM if you do not need it. A second cancellation returns the execution unchanged.',
  scope: 'write',
  audit: { action: 'execution.canceled', target: 'execution' },
  params: idParams(idPrefixes.execution, 'Id of the execution (`exec_…`).'),
  status: 200,
  response: Execution,
  responseExample: {
    ...executionExample,
    status: 'failed',
    iccid: null,
    error: {
      code: 'canceled',
      message: canceledMessage,
      retryable: true,
    },
    attempts: 0,
  },
  refusals: ['resource_missing', 'state_conflict'],
});
