import { type InputOf, operations } from '@simplane/contract';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.getEsim;

export const getEsim = defineTool({
  name: 'get_esim',
  title: 'Get an eSIM',
  description:
    'Returns the current state of an eSIM: its lifecycle status, and the state of its profile on a device as the network ' +
    'last reported it. It contains no secrets; get_install_profile returns those.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({ ...operation.params, required: ['iccid'] }),
  output: outputSchema(operation),
  run: ({ simplane, signal }, args: Partial<InputOf<typeof operation>['params']>) =>
    simplane.esims.get(idArgument('iccid', args.iccid), { signal }),
});
