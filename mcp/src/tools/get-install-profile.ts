import { type InputOf, operations } from '@simplane/contract';
import { idArgument, refuseOthers } from '../invalid-argument.ts';
import { inputSchema, omit, outputSchema } from '../schema.ts';
import { defineTool, reading } from '../tool.ts';

const operation = operations.getInstallProfile;

export const getInstallProfile = defineTool({
  name: 'get_install_profile',
  title: 'Get the install profile',
  description:
    'What an end user installs the eSIM with: the LPA string, links for iOS and Android, and the QR code as a picture. ' +
    'It is a secret: show it to the person it is for, and to nobody else.',
  annotations: reading,
  input: inputSchema({ ...operation.params, required: ['iccid'] }),
  // The QR code comes as a picture: as text its data URIs would fill a model’s context and tell it nothing.
  output: omit(outputSchema(operation), 'qr'),
  run: ({ simplane, signal }, args: Partial<InputOf<typeof operation>['params']>) => {
    refuseOthers(args, ['iccid']);
    return simplane.esims.install(idArgument('iccid', args.iccid), { signal });
  },
  show: ({ qr: { png }, ...result }) => ({
    result,
    pictures: [{ type: 'image', mimeType: 'image/png', data: png.slice(png.indexOf(',') + 1) }],
  }),
});
