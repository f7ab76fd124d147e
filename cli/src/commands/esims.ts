import { esimStatuses } from '@simplane/contract';
import type { Esim } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { printDryRun } from '../print/dry-run.ts';
import { bytes, none, paintStatus, time } from '../print/format.ts';
import { printList, readPairs, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printResource } from '../print/table.ts';
import { addEsimLinks } from './esim-links.ts';
import { addEsimQr } from './esim-qr.ts';
import { addEsimTimeline } from './esim-timeline.ts';
import { addEsimUsage } from './esim-usage.ts';
import { printStarted, type WaitOptions, withWaitOptions } from './executions.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Esim>[] = [
  { title: 'ICCID', value: ({ iccid }) => iccid },
  { title: 'STATUS', value: ({ status }) => status, paint: paintStatus },
  { title: 'PROFILE', value: ({ profile }) => profile.state },
  { title: 'PRODUCT', value: ({ product_id }) => product_id, cutTo: 12 },
  { title: 'REFERENCE', value: ({ reference }) => reference ?? '', cutTo: 12 },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
  { title: 'DESCRIPTION', value: ({ description }) => description ?? '', cutTo: 11 },
];

export function addEsims(program: Command): void {
  const esims = program.command('esims').description('order, manage and install eSIMs');
  addCreate(esims);
  addGet(esims);
  addList(esims);
  addEsimQr(esims);
  addEsimLinks(esims);
  addEsimTimeline(esims);
  addEsimUsage(esims);
  addChange(esims, 'suspend', 'suspend service until the eSIM is resumed');
  addChange(esims, 'resume', 'resume a suspended eSIM');
  addTerminate(esims);
  addErase(esims);
}

type CreateOptions = WaitOptions &
  WriteOptions & {
    product?: string;
    eid?: string;
    confirmationCode?: string;
    reference?: string;
    description?: string;
    metadata: string[];
    dryRun?: true;
  };

function addCreate(esims: Command): void {
  const create = withWaitOptions(
    esims
      .command('create')
      .description('order an eSIM')
      .argument('[product]', 'product id')
      .option('--product <id>', 'product id, as an option')
      .option('--eid <eid>', 'only for the device with this 32-digit EID')
      .option('--confirmation-code <code>', 'code that the device asks its user for (a secret)')
      .option('--reference <text>', 'your own name for the order, such as its number')
      .option('--description <text>', 'a note, visible only to your account')
      .option('--metadata <name=value>', 'your own data; repeatable', collect, []),
  )
    .option('--dry-run', 'only check the order; nothing is ordered')
    .addOption(idempotencyKeyOption());
  withAction<CreateOptions>(create, async ({ client, out }, options, [given]) => {
    const product = given ?? options.product;
    if (!product) throw usageError('No product given.', '`simplane products list` shows the catalog.');
    if (given && options.product && given !== options.product) {
      throw usageError(`Two different products given: ${given} and ${options.product}.`);
    }
    const body = {
      product_id: product,
      ...(options.eid !== undefined && { eid: options.eid }),
      ...(options.confirmationCode !== undefined && { confirmation_code: options.confirmationCode }),
      ...(options.reference !== undefined && { reference: options.reference }),
      ...(options.description !== undefined && { description: options.description }),
      ...(options.metadata.length > 0 && { metadata: readPairs('--metadata', options.metadata) }),
    };
    if (options.dryRun) return printDryRun(out, await client.esims.create({ ...body, dry_run: true }));
    const execution = await client.esims.create(body, keyOf(options));
    const finished = await printStarted(client, out, execution, options);
    if (options.wait)
      out.note(
        out.noteColors.dim(
          `Install it: simplane esims qr ${finished.iccid}\nLink for its user: simplane esims link ${finished.iccid}`,
        ),
      );
  });
}

function addGet(esims: Command): void {
  const get = esims.command('get').description('show one eSIM').argument('<iccid>', 'ICCID of the eSIM');
  withAction(get, async ({ client, out }, _, [iccid = '']) => printEsim(out, await client.esims.get(iccid)));
}

function addList(esims: Command): void {
  const list = withListOptions(esims.command('list').description('list eSIMs, newest first'))
    .addOption(new Option('--status <status>', 'only eSIMs with this status').choices([...esimStatuses]))
    .option('--product <id>', 'only eSIMs of this product')
    .option('--reference <text>', 'only eSIMs that were ordered with this reference')
    .option('--metadata <name=value>', 'only eSIMs with this pair; repeatable', collect, []);
  withAction<ListOptions>(list, ({ client, out }, options) => {
    const filters = {
      ...(options.status && { status: options.status }),
      ...(options.product && { product_id: options.product }),
      ...(options.reference !== undefined && { reference: options.reference }),
      ...(options.metadata.length > 0 && { metadata: readPairs('--metadata', options.metadata) }),
    };
    return printList(out, options, (query) => client.esims.list({ ...query, ...filters }), {
      columns,
      empty: Object.keys(filters).length > 0 ? 'No eSIM matches.' : noEsims,
    });
  });
}

type ListOptions = {
  limit: number;
  all?: boolean;
  status?: Esim['status'];
  product?: string;
  reference?: string;
  metadata: string[];
};

const noEsims = 'No eSIMs. Order one: `simplane esims create <product>`. Catalog: `simplane products list`.';

function addChange(esims: Command, verb: 'suspend' | 'resume', description: string): void {
  const change = withWaitOptions(
    esims.command(verb).description(description).argument('<iccid>', 'ICCID of the eSIM'),
  ).addOption(idempotencyKeyOption());
  withAction<WaitOptions & WriteOptions>(change, async ({ client, out }, options, [iccid = '']) => {
    await printStarted(client, out, await client.esims[verb](iccid, keyOf(options)), options);
  });
}

function addTerminate(esims: Command): void {
  const terminate = withWaitOptions(
    esims
      .command('terminate')
      .description('terminate an eSIM permanently and cancel its bundles')
      .argument('<iccid>', 'ICCID of the eSIM')
      .option('--yes', 'do not ask for confirmation'),
  ).addOption(idempotencyKeyOption());
  withAction<WaitOptions & WriteOptions & { yes?: boolean }>(
    terminate,
    async ({ client, out }, options, [iccid = '']) => {
      if (!options.yes) await confirm(`This terminates ${iccid} permanently`, ' and cancels its bundles');
      await printStarted(client, out, await client.esims.terminate(iccid, keyOf(options)), options);
    },
  );
}

function addErase(esims: Command): void {
  const erase = esims
    .command('erase')
    .description('erase the personal data of a terminated eSIM; repeat it to see whether it is finished')
    .argument('<iccid>', 'ICCID of the eSIM')
    .option('--yes', 'do not ask for confirmation')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { yes?: boolean }>(erase, async ({ client, out }, options, [iccid = '']) => {
    if (!options.yes) await confirm(`This erases the personal data of ${iccid} permanently`);
    const erasure = await client.esims.erase(iccid, keyOf(options));
    printResource(out, erasure, [
      ['eSIM', erasure.target.id],
      ['Status', erasure.status, paintStatus],
      ['Requested', time(erasure.requested_at)],
      ['Finished', time(erasure.finished_at)],
    ]);
  });
}

/** It cannot be undone: ask a person, require --yes from a script. */
async function confirm(what: string, more = ''): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageError(`${what}.`, 'Add --yes to confirm.');
  }
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // While a question is open, Ctrl-C is a character and sends no signal. End the command as the signal would.
  prompt.once('SIGINT', () => {
    prompt.close();
    process.kill(process.pid, 'SIGINT');
  });
  try {
    const answer = await prompt.question(`${what}${more}. Continue? [y/N] `).catch(() => ''); // it fails after Ctrl-D
    if (!/^y(es)?$/i.test(answer.trim())) throw usageError('Canceled; nothing was changed.');
  } finally {
    prompt.close();
  }
}

export function printEsim(out: Output, esim: Esim): void {
  printResource(out, esim, [
    ['ICCID', esim.iccid],
    ['Status', esim.status, paintStatus],
    ['Profile', `${esim.profile.state}, updated ${time(esim.profile.updated_at)}`],
    ...(esim.profile.error ? [['Profile error', esim.profile.error.message] as const] : []),
    ['Service', serviceLine(esim.service)],
    ['Product', esim.product_id],
    ['EID', esim.eid ?? none],
    ['Reference', esim.reference ?? none],
    ['Country', esim.country ?? none],
    ...(esim.uncovered_bytes > 0 ? [['Not covered', bytes(esim.uncovered_bytes)] as const] : []),
    ['Created', time(esim.created)],
    ['Provisioned', time(esim.provisioned_at)],
    ['Description', esim.description ?? none],
    ...Object.entries(esim.metadata).map(([name, value]) => [`· ${name}`, value] as const),
  ]);
}

function serviceLine({ state, reason, kbps, version, applied_version: applied }: Esim['service']): string {
  const speed = kbps === null ? '' : ` to ${kbps} kbit/s`;
  const why = reason === null ? '' : `, ${reason}`;
  const isBehind = version > 0 && applied !== version;
  return `${state}${speed}${why}${isBehind ? ' (the network does not have it yet)' : ''}`;
}

export function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}
