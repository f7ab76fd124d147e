import { chmod, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Context, withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { printFields } from '../print/table.ts';

type QrOptions = { output?: string; invert?: boolean };

/** `esims qr`: the code the end user scans. It is a secret, so no other command prints it. */
export function addEsimQr(esims: Command): void {
  const qr = esims
    .command('qr')
    .description('show the QR code that installs an eSIM (a secret)')
    .argument('<iccid>', 'ICCID of the eSIM')
    .option('--output <file>', 'write the QR code to a .png or .svg file instead')
    .option('--invert', 'invert the QR code, for light terminals without color');
  withAction<QrOptions>(qr, async (context, options, [iccid = '']) => {
    if (options.output !== undefined) return writeImage(context, iccid, options.output);
    const { client, out } = context;
    const profile = await client.esims.install(iccid);
    if (out.isJson) return out.json(profile);
    const { drawQr } = await import('../print/qr.ts');
    const isInverted = options.invert === true;
    for (const line of drawQr(profile.lpa, out.colors, { isInverted })) out.line(line);
    out.line('');
    printFields(out, [
      ['Activation code', profile.lpa],
      ['iPhone', profile.ios_install_url],
      ['Android', profile.android_install_url],
      ['Confirmation code', profile.confirmation_code_required ? 'required' : 'not required'],
    ]);
  });
}

async function writeImage({ client, out }: Context, iccid: string, path: string): Promise<void> {
  const [, extension] = /\.(png|svg)$/i.exec(path) ?? [];
  if (!extension) throw usageError(`--output must end in .png or .svg; got ${path}`);
  const type = extension.toLowerCase() === 'png' ? 'image/png' : 'image/svg+xml';
  const image = await client.esims.qr(iccid, type);
  await writeFile(path, image, { mode: 0o600 });
  await chmod(path, 0o600); // `mode` above does not apply to an existing file
  if (out.isJson) out.json({ iccid, output: path });
  else out.note(`Written to ${path}`);
}
