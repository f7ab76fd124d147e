import { esimStatuses } from '@simplane/contract';
import type { Esim, Execution } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { type Context, withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { printList, readPairs, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printThing } from '../print/table.ts';
import { addEsimQr } from './esim-qr.ts';
import { printStarted, type WaitOptions, withWaitOptions } from './executions.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Esim>[] = [
  { title: 'ICCID', of: ({ iccid }) => iccid },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  { title: 'PROFILE', of: ({ profile }) => profile.state },
  { title: 'PRODUCT', of: ({ product_id }) => product_id },
  { title: 'CREATED', of: ({ created }) => time(created) },
  { title: 'DESCRIPTION', of: ({ description }) => description ?? '' },
];

export function addEsims(program: Command): void {
  const esims = program.command('esims').description('order eSIMs, look after them, install them');
  addCreate(esims);
  addGet(esims);
  addList(esims);
  addEsimQr(esims);
  addChange(esims, 'suspend', 'take one off the network until it is resumed');
  addChange(esims, 'resume', 'bring a suspended one back');
  addTerminate(esims);
}

type CreateOptions = WaitOptions &
  WriteOptions & { product?: string; description?: string; metadata: string[] };

function addCreate(esims: Command): void {
  const create = withWaitOptions(
    esims
      .command('create')
      .description('order an eSIM')
      .argument('[product]', 'the product’s id')
      .option('--product <id>', 'the same, as an option')
      .option('--description <text>', 'a note for yourself')
      .option('--metadata <name=value>', 'ids of your own; may be repeated', collect, []),
  ).addOption(idempotencyKeyOption());
  withAction<CreateOptions>(create, async ({ client, out }, options, [given]) => {
    const product = given ?? options.product;
    if (!product) throw usageError('Which product?', '`simplane products list` shows what can be ordered.');
    if (given && options.product && given !== options.product) {
      throw usageError(`Two products are given: ${given} and ${options.product}.`);
    }
    const body = {
      product_id: product,
      ...(options.description !== undefined && { description: options.description }),
      ...(options.metadata.length > 0 && { metadata: readPairs(options.metadata) }),
    };
    const execution = await client.esims.create(body, keyOf(options));
    const finished = await printStarted(client, out, execution, options);
    if (options.wait) out.note(out.noteColors.dim(`Install it: simplane esims qr ${finished.iccid}`));
  });
}

function addGet(esims: Command): void {
  const get = esims.command('get').description('show one').argument('<iccid>', 'the eSIM’s ICCID');
  withAction(get, async ({ client, out }, _, [iccid = '']) => printEsim(out, await client.esims.get(iccid)));
}

function addList(esims: Command): void {
  const list = withListOptions(esims.command('list').description('list them, newest first'))
    .addOption(new Option('--status <status>', 'only those').choices([...esimStatuses]))
    .option('--product <id>', 'only those of one product');
  withAction<{ limit: number; all?: boolean; status?: Esim['status']; product?: string }>(
    list,
    ({ client, out }, options) => {
      const filters = {
        ...(options.status && { status: options.status }),
        ...(options.product && { product_id: options.product }),
      };
      return printList(out, options, (query) => client.esims.list({ ...query, ...filters }), {
        columns,
        empty:
          'No eSIMs. `simplane esims create <product>` orders one; `simplane products list` has the products.',
      });
    },
  );
}

function addChange(esims: Command, verb: 'suspend' | 'resume', description: string): void {
  const change = withWaitOptions(
    esims.command(verb).description(description).argument('<iccid>', 'the eSIM’s ICCID'),
  ).addOption(idempotencyKeyOption());
  withAction<WaitOptions & WriteOptions>(change, async ({ client, out }, options, [iccid = '']) => {
    await printStarted(client, out, await client.esims[verb](iccid, keyOf(options)), options);
  });
}

function addTerminate(esims: Command): void {
  const terminate = withWaitOptions(
    esims
      .command('terminate')
      .description('end one for good, its data included')
      .argument('<iccid>', 'the eSIM’s ICCID')
      .option('--yes', 'without being asked'),
  ).addOption(idempotencyKeyOption());
  withAction<WaitOptions & WriteOptions & { yes?: boolean }>(
    terminate,
    async (context, options, [iccid = '']) => {
      if (!options.yes) await askFirst(iccid);
      await printStarted(context.client, context.out, await terminated(context, options, iccid), options);
    },
  );
}

function terminated({ client }: Context, options: WriteOptions, iccid: string): PromiseLike<Execution> {
  return client.esims.terminate(iccid, keyOf(options));
}

/** It cannot be undone, so a person is asked, and a script must say that it means it. */
async function askFirst(iccid: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageError(`This ends ${iccid} for good.`, 'Add --yes when that is meant.');
  }
  const { createInterface } = await import('node:readline/promises');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(`This ends ${iccid} for good, its data included. Go on? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw usageError('Nothing was done.');
  } finally {
    asking.close();
  }
}

function printEsim(out: Output, esim: Esim): void {
  printThing(out, esim, [
    ['ICCID', esim.iccid],
    ['Status', esim.status, paintStatus],
    ['Profile', `${esim.profile.state}, seen ${time(esim.profile.updated_at)}`],
    ['Product', esim.product_id],
    ['EID', esim.eid ?? none],
    ['Created', time(esim.created)],
    ['Provisioned', time(esim.provisioned_at)],
    ['Description', esim.description ?? none],
    ...Object.entries(esim.metadata).map(([name, value]) => [`· ${name}`, value] as const),
  ]);
}

export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
