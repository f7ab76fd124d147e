import { chmod, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Context, withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { printFields } from '../print/table.ts';

type QrOptions = { output?: string; invert?: boolean };

/** `esims qr`: what the end user scans. It is a secret, and is printed because it was asked for by name. */
export function addEsimQr(esims: Command): void {
  const qr = esims
    .command('qr')
    .description('draw the QR code to install one with (a secret)')
    .argument('<iccid>', 'the eSIM’s ICCID')
    .option('--output <file>', 'write the picture to a .png or .svg file instead')
    .option('--invert', 'for light terminals without colour');
  withAction<QrOptions>(qr, async (context, options, [iccid = '']) => {
    if (options.output !== undefined) return writePicture(context, iccid, options.output);
    const { client, out } = context;
    const profile = await client.esims.install(iccid);
    if (out.isJson) return out.json(profile);
    const { drawQr } = await import('../print/qr.ts');
    const isInverted = options.invert === true;
    for (const line of drawQr(profile.lpa, out.colors, { isInverted })) out.line(line);
    out.line('');
    printFields(out, [
      ['By hand', profile.lpa],
      ['iPhone', profile.ios_install_url],
      ['Android', profile.android_install_url],
      ['Confirmation code', profile.confirmation_code_required ? 'will be asked for' : 'not needed'],
    ]);
  });
}

async function writePicture({ client, out }: Context, iccid: string, path: string): Promise<void> {
  const [, ending] = /\.(png|svg)$/i.exec(path) ?? [];
  if (!ending) throw usageError(`--output takes a file that ends in .png or .svg; got ${path}`);
  const type = ending.toLowerCase() === 'png' ? 'image/png' : 'image/svg+xml';
  const picture = await client.esims.qr(iccid, type);
  await writeFile(path, picture, { mode: 0o600 });
  await chmod(path, 0o600); // whoever has it can install the eSIM, also where the file was there before
  if (out.isJson) out.json({ iccid, output: path });
  else out.note(`Written to ${path}`);
}
