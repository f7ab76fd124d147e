import type { SearchResult } from '@simplane/sdk';
import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { none, time } from '../print/format.ts';
import { type Column, createTable } from '../print/table.ts';

const columns: Column<SearchResult>[] = [
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'ID', value: ({ id }) => id },
  { title: 'WHAT', value: ({ title }) => title, cutTo: 24 },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
  { title: 'PATH', value: ({ path }) => path ?? none, isSecondary: true },
];

export function addSearch(program: Command): void {
  const command = program
    .command('search')
    .description('find an id, an ICCID or its last digits, or an idempotency key')
    .argument('<text>', 'at least four characters');
  withAction(command, async ({ client, out }, _, [text = '']) => {
    const { data } = await client.search(text);
    if (out.isJson) for (const result of data) out.json(result);
    else if (data.length > 0) createTable(out, columns)(data);
    else
      out.note(
        'Nothing found. Ids and idempotency keys must be complete; of an ICCID the last four digits are enough.',
      );
  });
}
