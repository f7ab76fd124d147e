import { Type } from 'typebox';
import { Esim } from './esim.ts';
import { iccidParams } from './iccid.ts';
import { operation } from './operation.ts';

export const simulatedActions = [
  'download',
  'install',
  'enable',
  'disable',
  'delete',
  'attach',
  'use_data',
  'expire_bundle',
] as const;

export type SimulatedAction = (typeof simulatedActions)[number];

export const simulateEsim = operation({
  method: 'POST',
  path: '/v1/sandbox/esims/{iccid}/simulate',
  tag: 'Sandbox',
  summary: 'Simulate what a device or a network does',
  description:
    'Enters by the same path as a live network’s own reports, and causes the same events. Sandbox only. ' +
    'Answers with the eSIM as it then stands.',
  scope: 'network',
  params: iccidParams,
  body: Type.Object(
    {
      action: Type.Enum([...simulatedActions], { description: 'What happens.', examples: ['attach'] }),
      country: Type.Optional(
        Type.String({
          pattern: '^[A-Z]{2}$',
          description: 'For `attach`: ISO 3166-1 alpha-2.',
          examples: ['FR'],
        }),
      ),
      bytes: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000_000_000,
          description: 'For `use_data`: how much.',
          examples: [500_000_000],
        }),
      ),
      record_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description:
            'For `use_data`: a record with an id that was seen before is not counted again. Made up when left out.',
        }),
      ),
      at: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 253402300799,
          description: 'When it happened; now when left out. Unix time in seconds.',
        }),
      ),
    },
    { additionalProperties: false, examples: [{ action: 'attach', country: 'FR' }, { action: 'install' }] },
  ),
  status: 200,
  response: Esim,
  refusals: ['resource_missing', 'esim_not_ready', 'state_conflict', 'sandbox_only'],
});
