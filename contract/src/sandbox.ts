import { countryInput } from './country.ts';
import { Esim } from './esim.ts';
import { iccidParams } from './iccid.ts';
import { operation } from './operation.ts';
import { unixSecondsInput } from './schema.ts';
import { Type } from './type.ts';

export const simulatedActions = [
  'download',
  'install',
  'enable',
  'disable',
  'delete',
  'attach',
  'use_data',
  'deplete_bundle',
  'expire_bundle',
] as const;

export type SimulatedAction = (typeof simulatedActions)[number];

export const simulateEsim = operation({
  method: 'POST',
  path: '/v1/sandbox/esims/{iccid}/simulate',
  tag: 'Sandbox',
  summary: 'Simulate a device or network action',
  description:
    'Takes the same path as a live network’s reports and sends the same events. Returns the updated eSIM. ' +
    'Sandbox only.',
  scope: 'network',
  audit: { action: 'esim.simulated', target: 'esim' },
  params: iccidParams,
  body: Type.Object(
    {
      action: Type.Enum([...simulatedActions], { description: 'Action to simulate.', examples: ['attach'] }),
      country: Type.Optional(
        countryInput({
          description:
            'For `attach`, required: the country, as an ISO 3166-1 alpha-2 code. For `use_data` and `deplete_bundle`: the country of the usage; defaults to where the eSIM was last seen.',
          examples: ['FR'],
        }),
      ),
      bytes: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000_000_000,
          description: 'For `use_data`: the bytes used.',
          examples: [500_000_000],
        }),
      ),
      record_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description:
            'For `use_data`: id of the usage record. A repeated id is not counted again. Generated if omitted.',
        }),
      ),
      at: Type.Optional(
        unixSecondsInput(
          'When it happened. Defaults to now. At most five minutes ahead; a time in the future counts as now.',
        ),
      ),
    },
    {
      additionalProperties: false,
      examples: [
        { action: 'attach', country: 'FR' },
        { action: 'install' },
        { action: 'use_data', bytes: 500_000_000, country: 'JP' },
      ],
    },
  ),
  status: 200,
  response: Esim,
  refusals: ['resource_missing', 'esim_not_ready', 'state_conflict', 'sandbox_only'],
});
