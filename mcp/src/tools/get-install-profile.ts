import { type InputOf, operations } from '@simplane/contract';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, omit, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.getInstallProfile;

export const getInstallProfile = defineTool({
  name: 'get_install_profile',
  title: 'Get the install profile',
  description:
    'Returns what an end user needs to install the eSIM: the LPA string, links for iOS and Android, and the QR code ' +
    'image. It is a secret: show it only to the person it is for.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({ ...operation.params, required: ['iccid'] }),
  // The QR code is returned as an image: as text, its data URIs would only fill the model’s context.
  output: omit(outputSchema(operation), 'qr'),
  run: ({ simplane, signal }, args: Partial<InputOf<typeof operation>['params']>) =>
    simplane.esims.install(idArgument('iccid', args.iccid), { signal }),
  splitImages: ({ qr: { png }, ...result }) => ({
    result,
    images: [{ type: 'image', mimeType: 'image/png', data: png.slice(png.indexOf(',') + 1) }],
  }),
});
