import type { Static } from 'typebox';
import { exampleId, exampleTime } from './example-values.ts';
import { idPrefixes } from './ids.ts';
import { nullableInteger, nullableString, nullableUnixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const serviceStates = ['full', 'throttled', 'barred'] as const;

export type ServiceState = (typeof serviceStates)[number];

/** Why the service is not full. */
export const serviceReasons = [
  'not_active',
  'depleted',
  'expired',
  'not_covered',
  'suspended',
  'terminated',
] as const;

export type ServiceReason = (typeof serviceReasons)[number];

/** What the network should let the eSIM do, as a version of it says for ever. */
export const serviceFields = {
  state: Type.Enum([...serviceStates], { description: 'What the network should let the eSIM do with data.' }),
  reason: Type.Unsafe<ServiceReason | null>({
    type: ['string', 'null'],
    enum: [...serviceReasons, null],
    description:
      'Why it is not `full`: no bundle yet (`not_active`), the bundle used up or expired, no bundle for the country where the eSIM is (`not_covered`), or the eSIM suspended or terminated. Null if it is.',
  }),
  kbps: nullableInteger({ description: 'Speed limit in kbit/s if `throttled`, else null.' }),
  bundle_id: nullableString({ description: 'Id of the bundle that the state follows from; null if none.' }),
  until: nullableUnixSeconds(
    'When the state ends by itself, as a bundle’s validity does; null if no such time is known.',
  ),
};

export const EsimService = Type.Object(
  {
    ...serviceFields,
    version: Type.Integer({
      minimum: 0,
      description: 'Rises with every change. 0 before the first: the eSIM is being provisioned, or failed.',
    }),
    since: nullableUnixSeconds('When this version was written.'),
    applied_version: nullableInteger({
      description:
        'The newest version that the operator’s core has confirmed; null if none. In a sandbox without a core, always the newest.',
    }),
    applied_at: nullableUnixSeconds('When the core confirmed it.'),
  },
  {
    title: 'EsimService',
    description: 'What the eSIM may use now, and whether the operator’s core knows it.',
    examples: [
      {
        state: 'full',
        reason: null,
        kbps: null,
        bundle_id: exampleId(idPrefixes.bundle),
        until: exampleTime + 30 * 86_400,
        version: 2,
        since: exampleTime,
        applied_version: 2,
        applied_at: exampleTime + 1,
      },
    ],
  },
);

export type EsimService = Static<typeof EsimService>;

export const depletionActions = ['bar', 'throttle', 'none'] as const;

const depletionFields = {
  action: Type.Enum([...depletionActions], {
    description:
      '`bar`: no more data. `throttle`: limited to `kbps` until the bundle’s validity ends. `none`: full service until then.',
  }),
  kbps: nullableInteger({
    minimum: 1,
    maximum: 1_000_000,
    default: null,
    description: 'Speed limit in kbit/s; only for `throttle`.',
  }),
};

const whenDepleted =
  'What the network does with an eSIM whose data is used up, if it has no other bundle there.';

/** What happens to an eSIM whose data is used up. */
export const AfterDepletion = Type.Object(depletionFields, {
  additionalProperties: false,
  description: whenDepleted,
  examples: [{ action: 'throttle', kbps: 128 }],
});

export type AfterDepletion = Static<typeof AfterDepletion>;

/** As an operator gives it. */
export const afterDepletionInput = Type.Object(
  { action: depletionFields.action, kbps: Type.Optional(depletionFields.kbps) },
  {
    additionalProperties: false,
    default: { action: 'bar', kbps: null },
    description: whenDepleted,
    examples: [{ action: 'throttle', kbps: 128 }],
  },
);

export const barAfterDepletion: AfterDepletion = { action: 'bar', kbps: null };

/** What is wrong with the pair; null if nothing is. A schema cannot say it without `if`, which generators of clients do not know. */
export function depletionProblem({ action, kbps = null }: { action: string; kbps?: number | null }) {
  if (action === 'throttle') return kbps === null ? 'needs kbps to throttle' : null;
  return kbps === null ? null : `has kbps, which only "throttle" takes`;
}
