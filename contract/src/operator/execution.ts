import type { Static } from 'typebox';
import { actorTypes } from '../audit-actions.ts';
import { exampleId, exampleTime } from '../example-values.ts';
import { Execution, executionErrorCodes, executionExample, executionStatuses } from '../execution.ts';
import { iccid } from '../iccid.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { idParams, nullableObject, nullableString, nullableUnixSeconds, unixSeconds } from '../schema.ts';
import { Type } from '../type.ts';

/** `done`: the network confirmed it. `failed`: the last call got an error or no answer. `sent`: the answer is not known. */
export const stepStatuses = ['done', 'failed', 'sent'] as const;

/** `closed`: nothing is left to do. `canceling`: the profile is being canceled. `refused`: the network refused to cancel it. */
export const resolutionStatuses = ['closed', 'canceling', 'refused'] as const;

export const unknownOutcomes = ['reserved', 'not_reserved'] as const;
export const reservedActions = ['adopt', 'cancel'] as const;

const upstream = Type.Optional(
  Type.Record(Type.String(), Type.String(), { description: 'Error details from the network.' }),
);

/** With a valid check digit, which is verified. */
const reservedIccid = '8988303000000000101';
const exampleCallId = '019a5f6e-3c60-7b2f-8f00-000000000000.order';

const example = {
  ...executionExample,
  status: 'failed',
  iccid: null,
  error: {
    code: 'outcome_unknown',
    message:
      'The SM-DP+ did not answer in time. It is unknown whether the SM-DP+ has reserved a profile. The order was not retried, since that could reserve a second one.',
    retryable: false,
    upstream: { function: 'downloadOrder', function_call_identifier: exampleCallId },
  },
  account_id: exampleId(idPrefixes.account),
  leased_until: null,
  steps: [{ name: 'order', function_call_identifier: exampleCallId, status: 'failed' }],
  last_error: {
    step: 'order',
    code: 'outcome_unknown',
    message: 'es2.smdp.example:8443: The SM-DP+ did not answer in time.',
    upstream: { function: 'downloadOrder', function_call_identifier: exampleCallId },
    network: 'es2.smdp.example:8443',
    at: exampleTime + 2,
  },
  resolution: null,
  failure_group: 'fg_3f0b6a7c9d1e2f4a5b6c7d8e',
};

export const OperatorExecution = Type.Object(
  {
    ...Execution.properties,
    account_id: Type.String({
      pattern: idPattern(idPrefixes.account),
      description: 'Account of the execution.',
    }),
    leased_until: nullableUnixSeconds(
      'When the lease of the worker that runs it ends; null if no worker runs it.',
    ),
    steps: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The step, such as `order`, `confirm`, `release`, `undo`.' }),
        function_call_identifier: Type.String({
          description: 'Id of its calls at the network, the same for every repetition.',
        }),
        status: Type.Enum([...stepStatuses], {
          description:
            '`done`: the network confirmed it. `failed`: the last call got an error or no answer. `sent`: the answer is not known.',
        }),
      }),
      { description: 'The recorded calls to the network, in order.' },
    ),
    last_error: nullableObject(
      {
        step: nullableString({ description: 'The step that failed; null if no call was made.' }),
        code: Type.String({ description: 'As in `error.code`.' }),
        message: Type.String({ description: 'Cause and remedy, with hosts and settings.' }),
        upstream,
        network: nullableString({ description: 'The host that was called; null if unknown.' }),
        at: unixSeconds('When it happened.'),
      },
      { description: 'The last failed call. Stays after the execution has succeeded.' },
    ),
    resolution: nullableObject(
      {
        outcome: Type.Enum([...unknownOutcomes]),
        iccid: nullableString({ description: 'The profile that was reserved.' }),
        then: nullableString({
          enum: [...reservedActions, null],
          description: 'What was decided about the profile.',
        }),
        status: Type.Enum([...resolutionStatuses], {
          description:
            '`closed`: nothing is left to do. `canceling`: the profile is being canceled. `refused`: the network refused to cancel it, see `error`.',
        }),
        function_call_identifier: nullableString({
          description: 'Id of the calls that cancel the profile; null if it is not canceled.',
        }),
        attempts: Type.Integer({ minimum: 0, description: 'Calls made to cancel the profile.' }),
        error: nullableObject(
          { code: Type.String(), message: Type.String(), upstream },
          { description: 'Why the profile is not canceled yet, or was not.' },
        ),
        decided_by: Type.Object({
          type: Type.Enum([...actorTypes]),
          id: nullableString({ description: 'The key.' }),
          name: nullableString({ description: 'The key’s name.' }),
        }),
        decided_at: unixSeconds('When it was decided.'),
        closed_at: nullableUnixSeconds('When nothing was left to do.'),
      },
      { description: 'The decision about an unknown outcome; null if there is none.' },
    ),
    failure_group: nullableString({
      description: 'The group of a failure on which nobody has acted yet.',
    }),
  },
  {
    title: 'OperatorExecution',
    description: 'An execution of any account as the operator sees it.',
    examples: [example],
  },
);

export type OperatorExecution = Static<typeof OperatorExecution>;

const params = idParams(idPrefixes.execution, 'Id of the execution (`exec_…`).');

export const listAllExecutions = operation({
  method: 'GET',
  path: '/v1/operator/executions',
  tag: 'Operator executions',
  summary: 'List executions of all accounts',
  description: 'Returns executions of all accounts with their steps and call ids.',
  scope: 'operator',
  query: listQuery({
    status: Type.Optional(
      Type.Enum([...executionStatuses], { description: 'Only executions in this status.' }),
    ),
    error_code: Type.Optional(
      Type.Enum([...executionErrorCodes], {
        description: 'Only failed executions with this `error.code`.',
      }),
    ),
    account_id: Type.Optional(
      Type.String({
        description: 'Only executions of this account.',
        examples: [exampleId(idPrefixes.account)],
      }),
    ),
    older_than: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 31_536_000,
        description: 'Only executions that were accepted at least this many seconds ago.',
        examples: [300],
      }),
    ),
  }),
  status: 200,
  response: listOf(OperatorExecution, 'OperatorExecutionList'),
  refusals: ['cursor_invalid'],
});

export const getAnyExecution = operation({
  method: 'GET',
  path: '/v1/operator/executions/{id}',
  tag: 'Operator executions',
  summary: 'Get an execution of any account',
  description: 'Returns an execution with its steps, call ids, last error and resolution.',
  scope: 'operator',
  params,
  status: 200,
  response: OperatorExecution,
  refusals: ['resource_missing'],
});

export const retryExecution = operation({
  method: 'POST',
  path: '/v1/operator/executions/{id}/retry',
  tag: 'Operator executions',
  summary: 'Retry an execution',
  description:
    'For a failed execution, starts a new one with the same request and returns it, with `retry_of`; the failed one stays failed. A waiting execution becomes due now and is returned itself. An execution can be retried once; if the new one fails too, retry that. Refused while the outcome is unknown: resolve it first.',
  scope: 'operator',
  audit: { action: 'execution.retried', target: 'execution' },
  params,
  status: 202,
  response: OperatorExecution,
  refusals: ['resource_missing', 'state_conflict'],
});

export const resolveExecution = operation({
  method: 'POST',
  path: '/v1/operator/executions/{id}/resolve',
  tag: 'Operator executions',
  summary: 'Resolve an unknown outcome',
  description:
    'Records what happened to an execution that failed with `outcome_unknown`. Look up its call id at the SM-DP+ first. The execution stays failed. With `adopt`, a new execution continues with the reserved profile, without a second order. With `cancel`, a worker cancels the profile at the SM-DP+. A resolution is final.',
  scope: 'operator',
  audit: { action: 'execution.resolved', target: 'execution' },
  params,
  body: Type.Object(
    {
      outcome: Type.Enum([...unknownOutcomes], {
        description: 'What the SM-DP+ did: reserved a profile, or not.',
      }),
      iccid: Type.Optional(
        Type.String({
          ...iccid,
          description: 'ICCID of the reserved profile. Required with `reserved`.',
          examples: [reservedIccid],
        }),
      ),
      then: Type.Optional(
        Type.Enum([...reservedActions], {
          description:
            'What to do with the reserved profile. Required with `reserved`. `adopt`: a new execution continues with it. `cancel`: it is canceled at the SM-DP+.',
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ outcome: 'not_reserved' }, { outcome: 'reserved', iccid: reservedIccid, then: 'adopt' }],
    },
  ),
  status: 200,
  response: OperatorExecution,
  refusals: ['resource_missing', 'state_conflict'],
});
