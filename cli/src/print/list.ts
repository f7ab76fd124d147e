import type { List, Page } from '@simplane/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../command-error.ts';
import type { Output } from './output.ts';
import { type Column, createTable } from './table.ts';

type PageQuery = { limit: number; starting_after?: string };
type ListOptions = { limit: number; all?: boolean };

const maxPageSize = 100;

export function withListOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--limit <n>', 'maximum number of items to show').default(20).argParser(positiveInteger),
    )
    .option('--all', 'show all items');
}

/** Prints a table, or with --json one document per line. Fetches pages as needed. */
export async function printList<Item>(
  out: Output,
  { limit, all }: ListOptions,
  read: (query: PageQuery) => List<Item>,
  { columns, empty }: { columns: readonly Column<Item>[]; empty: string },
): Promise<void> {
  const printRows = createTable(out, columns);
  let left = all ? Number.POSITIVE_INFINITY : limit;
  let page: Page<Item> | undefined;
  while (left > 0 && (!page || page.has_more)) {
    const after = page?.next_cursor;
    page = await read({
      limit: Math.min(left, maxPageSize),
      ...(after !== undefined && { starting_after: after }),
    });
    left -= page.data.length;
    if (out.isJson) for (const item of page.data) out.json(item);
    else if (page.data.length > 0) printRows(page.data);
    else if (after === undefined) out.note(empty);
  }
  if (page?.has_more) out.note(out.noteColors.dim('More items exist: --all shows them.'));
}

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Must be a whole number of at least 1.');
  return Number(text);
}

/** Parses repeated `name=value` options. */
export function readPairs(option: string, pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usageError(`${option} must be name=value; got ${pair}`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
