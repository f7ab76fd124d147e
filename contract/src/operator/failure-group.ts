import type { Static } from 'typebox';
import { exampleId, exampleTime } from '../example-values.ts';
import { type ExecutionErrorCode, executionErrorCodes } from '../execution.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf } from '../pagination.ts';
import { nullableObject, nullableString, nullableUnixSeconds, unixSeconds } from '../schema.ts';
import { Type } from '../type.ts';

export const failureGroupPattern = '^fg_[0-9a-f]{24}$';

/** Failures older than this are in no group. */
export const failureGroupDays = 7;

/** Counts stop here. */
export const failureGroupMaxCount = 10_000;

/** `testing`: one order runs. `running`: it succeeded, and the rest is started. `stopped`: it failed, and the rest stays. */
export const groupRetryStatuses = ['testing', 'running', 'succeeded', 'stopped'] as const;

/** What the operator can do about failures with each code. */
export const executionRemedies: Record<ExecutionErrorCode, string> = {
  declined:
    'The network refused for a reason of its own. Correct the catalog or the permissions at the network, then retry.',
  out_of_stock: 'Order more profiles, or add a range to SIMPLANE_ICCID_RANGES, then retry.',
  network_unavailable:
    'Check the network with `simplane-server doctor`. Waiting orders continue automatically; retry those that failed.',
  outcome_unknown: 'Look up each call id at the SM-DP+ and resolve the executions one by one.',
  state_conflict:
    'The profile or the eSIM was not in the expected state. Check whether somebody else uses the same ICCIDs.',
  product_missing: 'Import the product into the catalog again, then retry.',
  superseded: 'Nothing: a newer change of the eSIM replaced it.',
  canceled: 'Nothing: the account canceled it.',
  internal:
    'A bug or an outage of this service: see `last_error` and the log for the cause. Retry after the fix.',
};

export const exampleGroupId = 'fg_3f0b6a7c9d1e2f4a5b6c7d8e';

const example = {
  id: exampleGroupId,
  object: 'failure_group',
  code: 'out_of_stock',
  network: 'es2.smdp.example:8443',
  upstream_code: '8.2.5/3.7',
  message: 'The SM-DP+ has no profiles of this type left.',
  remedy: executionRemedies.out_of_stock,
  failed: 41,
  waiting: 0,
  oldest: exampleTime,
  newest: exampleTime + 3_600,
  executions: [exampleId(idPrefixes.execution)],
  retry: null,
};

export const FailureGroup = Type.Object(
  {
    id: Type.String({
      pattern: failureGroupPattern,
      description: 'Derived from `code`, `network` and `upstream_code`.',
    }),
    object: Type.Literal('failure_group'),
    code: Type.Enum([...executionErrorCodes], { description: 'As in `error.code` of its executions.' }),
    network: nullableString({ description: 'The host that was called; null if unknown.' }),
    upstream_code: nullableString({
      description: 'The network’s own code, such as `8.2.5/3.7` or `HTTP 503`; null if there is none.',
    }),
    message: Type.String({ description: 'The cause of the newest failure, with hosts and settings.' }),
    remedy: Type.String({ description: 'What the operator can do.' }),
    failed: Type.Integer({
      minimum: 0,
      description: `Failed executions of the last ${failureGroupDays} days that nobody has retried or resolved; at most ${failureGroupMaxCount} are counted.`,
    }),
    waiting: Type.Integer({
      minimum: 0,
      description: `Executions that wait for their next attempt after this failure; at most ${failureGroupMaxCount} are counted.`,
    }),
    oldest: unixSeconds('When the oldest was accepted.'),
    newest: unixSeconds('When the newest was accepted.'),
    executions: Type.Array(Type.String({ pattern: idPattern(idPrefixes.execution) }), {
      description: 'The newest executions, up to three.',
    }),
    retry: nullableObject(
      {
        status: Type.Enum([...groupRetryStatuses], {
          description:
            '`testing`: the first execution is being retried. `running`: it succeeded, and the others are being retried. `succeeded`: all that could be retried were retried. `stopped`: the first failed again, and the others were not retried.',
        }),
        execution_id: Type.String({ description: 'The execution that is retried first.' }),
        retried: Type.Integer({
          minimum: 0,
          description: 'Failed executions retried so far, including the first.',
        }),
        created: unixSeconds('When the retry was requested.'),
        finished_at: nullableUnixSeconds('When it ended.'),
      },
      { description: 'The last retry of the group; null if there was none.' },
    ),
  },
  {
    title: 'FailureGroup',
    description: 'Failed and waiting executions with the same cause.',
    examples: [example],
  },
);

export type FailureGroup = Static<typeof FailureGroup>;

export const listFailureGroups = operation({
  method: 'GET',
  path: '/v1/operator/failure_groups',
  tag: 'Operator executions',
  summary: 'List failure groups',
  description:
    'Groups the failed executions that nobody has retried or resolved, and those that wait after a failure, by code, network and the network’s own code. Returns up to 100 groups, the largest first.',
  scope: 'operator',
  status: 200,
  response: listOf(FailureGroup, 'FailureGroupList', 'largest first'),
  refusals: [],
});

export const retryFailureGroup = operation({
  method: 'POST',
  path: '/v1/operator/failure_groups/{id}/retry',
  tag: 'Operator executions',
  summary: 'Retry a failure group',
  description:
    'Retries one execution of the group first, and the others only after it has succeeded. Executions that join the group later are not retried. Refused while an earlier retry of the group is running, and for `outcome_unknown`.',
  scope: 'operator',
  audit: { action: 'failure_group.retried', target: 'failure_group' },
  params: Type.Object({
    id: Type.String({ description: 'Id of the group (`fg_…`).', examples: [exampleGroupId] }),
  }),
  status: 202,
  response: FailureGroup,
  refusals: ['resource_missing', 'state_conflict'],
});
