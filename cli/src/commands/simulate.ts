import { type SimulatedAction, simulatedActions } from '@simplane/contract';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { withAction } from '../action.ts';
import { readTime } from '../read-time.ts';
import { printEsim } from './esims.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

type SimulateOptions = WriteOptions & { country?: string; bytes?: number; recordId?: string; at?: number };

/** `simulate`: what a device or the network would report about an eSIM. */
export function addSimulate(program: Command): void {
  const simulate = program
    .command('simulate')
    .description('simulate a device or network action (sandbox only)')
    .argument('<iccid>', 'ICCID of the eSIM')
    .addArgument(new Argument('<action>', 'what happens').choices([...simulatedActions]))
    .option('--country <code>', 'for attach, use_data, deplete_bundle: ISO 3166-1 alpha-2 code, such as FR')
    .addOption(new Option('--bytes <size>', 'for use_data: such as 500MB or 1048576').argParser(readBytes))
    .option('--record-id <id>', 'for use_data: a repeated id is not counted again')
    .addOption(
      new Option('--at <time>', 'when it happened, such as 2h (ago); default: now').argParser(readTime),
    )
    .addOption(idempotencyKeyOption());
  withAction<SimulateOptions>(simulate, async ({ client, out }, options, [iccid = '', action = '']) => {
    const { country, bytes, recordId, at } = options;
    const body = {
      action: action as SimulatedAction,
      ...(country !== undefined && { country: country.toUpperCase() }),
      ...(bytes !== undefined && { bytes }),
      ...(recordId !== undefined && { record_id: recordId }),
      ...(at !== undefined && { at }),
    };
    printEsim(out, await client.sandbox.simulate(iccid, body, keyOf(options)));
  });
}

const unitBytes: Record<string, number> = { '': 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };

function readBytes(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?) ?([kmgt]?b)?$/i.exec(text) ?? [];
  const bytes = Number(count) * (unitBytes[unit.toLowerCase()] ?? Number.NaN);
  if (!Number.isSafeInteger(bytes))
    throw new InvalidArgumentError('Must be a size such as 500MB or 1048576.');
  return bytes;
}
