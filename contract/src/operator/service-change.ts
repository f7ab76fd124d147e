import type { Static } from 'typebox';
import { exampleIccid, exampleId, exampleTime } from '../example-values.ts';
import { iccid } from '../iccid.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { nullableObject, nullableUnixSeconds, unixSeconds } from '../schema.ts';
import { serviceFields } from '../service.ts';
import { Type } from '../type.ts';

export const serviceChangeStates = ['pending', 'refused'] as const;

const stateDescription =
  '`pending`: it is being sent, or sent again. `refused`: the core refused it, and it is not sent again until the eSIM changes or the core is resynced.';

export const ServiceChange = Type.Object(
  {
    object: Type.Literal('service_change'),
    account_id: Type.String({ pattern: idPattern(idPrefixes.account), description: 'The eSIM’s account.' }),
    iccid,
    state: Type.Enum([...serviceChangeStates], { description: stateDescription }),
    version: Type.Integer({ minimum: 1, description: '`service.version` of the eSIM.' }),
    service: Type.Object(serviceFields, { description: 'What the core should let the eSIM do.' }),
    since: unixSeconds('Since when the core is behind.'),
    failures: Type.Integer({ minimum: 0, description: 'Attempts that failed since this version exists.' }),
    next_attempt_at: nullableUnixSeconds('Earliest time of the next attempt; null if it was refused.'),
    error: nullableObject(
      { message: Type.String({ description: 'Why the core does not have it.' }) },
      { description: 'How the last attempt ended; null before the first has.' },
    ),
  },
  {
    title: 'ServiceChange',
    description: 'The newest state of an eSIM, which the operator’s core does not have.',
    examples: [
      {
        object: 'service_change',
        account_id: exampleId(idPrefixes.account),
        iccid: exampleIccid,
        state: 'refused',
        version: 3,
        service: {
          state: 'barred',
          reason: 'depleted',
          kbps: null,
          bundle_id: exampleId(idPrefixes.bundle),
          until: null,
        },
        since: exampleTime,
        failures: 0,
        next_attempt_at: null,
        error: { message: 'The operator’s core refused to change the eSIM: unknown subscriber' },
      },
    ],
  },
);

export type ServiceChange = Static<typeof ServiceChange>;

const tag = 'Operator deployment';

export const listServiceChanges = operation({
  method: 'GET',
  path: '/v1/operator/service_changes',
  tag,
  summary: 'List what the core does not have',
  description:
    'Returns the eSIMs of all accounts whose newest state the operator’s core has not confirmed, one entry per eSIM.',
  scope: 'operator',
  query: listQuery({
    state: Type.Optional(
      Type.Enum([...serviceChangeStates], {
        default: 'pending',
        description: `Which of them. ${stateDescription}`,
      }),
    ),
  }),
  status: 200,
  response: listOf(ServiceChange, 'ServiceChangeList'),
  refusals: ['cursor_invalid'],
});

export const CoreResync = Type.Object(
  {
    object: Type.Literal('core_resync'),
    created: unixSeconds('When it was requested.'),
    esims: Type.Integer({ minimum: 0, description: 'How many eSIMs have been queued so far.' }),
    finished_at: nullableUnixSeconds('When every eSIM was queued.'),
  },
  {
    title: 'CoreResync',
    description: 'The state of every eSIM is sent to the core again.',
    examples: [{ object: 'core_resync', created: exampleTime, esims: 0, finished_at: null }],
  },
);

export type CoreResync = Static<typeof CoreResync>;

export const resyncCore = operation({
  method: 'POST',
  path: '/v1/operator/core/resync',
  tag,
  summary: 'Send every state to the core again',
  description:
    'For a core that was restored from a backup, or that refused states which it now accepts. Workers calculate the state of each eSIM again and queue it, some hundred at a time, while others are sent. A version that the core had has the same body as before. A resync that is running starts again.',
  scope: 'operator',
  audit: { action: 'core.resync_started', target: 'deployment' },
  status: 202,
  response: CoreResync,
  refusals: ['core_not_connected'],
});
