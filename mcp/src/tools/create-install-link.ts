import { type InputOf, operations } from '@simplane/contract';
import { idempotencyKey, splitKey, type WithKey } from '../idempotency-key.ts';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, omit, outputSchema } from '../schema.ts';
import { creating, defineTool } from '../tool.ts';

const operation = operations.createInstallLink;

type Input = InputOf<typeof operation>;

export const createInstallLink = defineTool({
  name: 'create_install_link',
  title: 'Create an install link',
  description:
    'Returns a link to send to the end user: a page in their language that installs the eSIM on the phone it is opened on, and ' +
    'shows when it is online. Whoever has the link can install the eSIM: give it only to the person it is for.',
  // A key without `write` is offered no tool that writes, though `install` is enough for the operation.
  scope: 'write',
  annotations: creating,
  input: inputSchema(
    {
      properties: { ...operation.params.properties, ...operation.body.properties },
      required: ['iccid'],
    },
    { idempotency_key: idempotencyKey },
  ),
  // The QR code is for print; as text it would only fill the model’s context.
  output: omit(outputSchema(operation), 'qr'),
  async run({ simplane, signal }, args: WithKey<Input['params'] & Input['body']>) {
    const { iccid, ...rest } = args;
    const { body, options } = splitKey<Input['body']>(rest);
    const { qr: _, ...link } = await simplane.esims.createInstallLink(idArgument('iccid', iccid), body, {
      ...options,
      signal,
    });
    return link;
  },
});
