import { type PageLanguage, pageLanguages } from '@simplane/contract';
import type { InstallLink } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import { type Column, printResource } from '../print/table.ts';
import { readDuration } from '../read-time.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<InstallLink>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
  { title: 'EXPIRES', value: ({ expires_at: at }) => time(at) },
  { title: 'OPENED', value: ({ opened_at: at }) => time(at) },
  { title: 'INSTALLED', value: ({ installed_at: at }) => time(at) },
];

type LinkOptions = WriteOptions & {
  expiresIn?: number;
  language?: PageLanguage;
  returnUrl?: string;
  qr?: boolean;
  invert?: boolean;
};

/** `esims link`, `esims links` and `esims revoke-link`: a page for the end user, which installs the eSIM. */
export function addEsimLinks(esims: Command): void {
  const link = named(esims.command('link').description('create a link for the end user and print it, once'))
    .option('--expires-in <duration>', 'until it ends, such as 12h or 30d (default: 30d)', readDuration)
    .addOption(
      new Option('--language <language>', 'of the page (default: the browser’s)').choices([...pageLanguages]),
    )
    .option('--return-url <url>', 'where the page leads once the eSIM is online')
    .option('--qr', 'draw a QR code of the link')
    .option('--invert', 'invert the QR code, for light terminals without color')
    .addOption(idempotencyKeyOption());
  withAction<LinkOptions>(link, async ({ client, out }, options, [iccid = '']) => {
    const body = {
      ...(options.expiresIn !== undefined && { expires_in: options.expiresIn }),
      ...(options.language !== undefined && { language: options.language }),
      ...(options.returnUrl !== undefined && { return_url: options.returnUrl }),
    };
    const created = await client.esims.createInstallLink(iccid, body, keyOf(options));
    if (options.qr && !out.isJson) {
      const { drawQr } = await import('../print/qr.ts');
      const isInverted = options.invert === true;
      for (const line of drawQr(created.url ?? '', out.colors, { isInverted })) out.line(line);
    }
    printResource(out, created, [
      ['Link', created.url ?? ''],
      ['ID', created.id],
      ['Expires', time(created.expires_at)],
    ]);
  });

  const list = withListOptions(
    named(esims.command('links').description('list an eSIM’s links, without their URLs')),
  );
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options, [iccid = '']) =>
    printList(out, options, (query) => client.esims.listInstallLinks(iccid, query), {
      columns,
      empty: 'No links. Create one: `simplane esims link <iccid>`.',
    }),
  );

  const revoke = named(esims.command('revoke-link').description('end a link at once'))
    .argument('<id>', 'id of the link (ilk_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(revoke, async ({ client, out }, options, [iccid = '', id = '']) => {
    const revoked = await client.esims.revokeInstallLink(iccid, id, keyOf(options));
    if (out.isJson) out.json(revoked);
    else out.note(`Revoked ${id}.`);
  });
}

function named(command: Command): Command {
  return command.argument('<iccid>', 'ICCID of the eSIM');
}
