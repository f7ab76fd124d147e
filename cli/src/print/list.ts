import type { List, Page } from '@simplane/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../command-error.ts';
import type { Output } from './output.ts';
import { type Column, createTable } from './table.ts';

type PageQuery = { limit: number; starting_after?: string };
type ListOptions = { limit: number; all?: boolean };

const largestPage = 100;

/** How much of a list is wanted. */
export function withListOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--limit <n>', 'how many at most, newest first').default(20).argParser(positiveInteger),
    )
    .option('--all', 'everything, however many pages that takes');
}

/** A table for people, a JSON document a line for programs; pages are asked for as they are needed. */
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
      limit: Math.min(left, largestPage),
      ...(after !== undefined && { starting_after: after }),
    });
    left -= page.data.length;
    if (out.isJson) for (const item of page.data) out.json(item);
    else if (page.data.length > 0) printRows(page.data);
    else if (after === undefined) out.note(empty);
  }
  if (page?.has_more) out.note(out.noteColors.dim('There are more: --all shows everything.'));
}

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number from 1.');
  return Number(text);
}

/** `a=1` pairs, as they are given one option each. */
export function readPairs(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw usageError(`--metadata takes name=value; got ${pair}`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
