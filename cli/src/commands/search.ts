import type { SearchResult } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { none, time } from '../print/format.ts';
import { positiveInteger } from '../print/list.ts';
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
    .description(
      'find an id, an ICCID or its last digits, a reference, a value of metadata, or an idempotency key',
    )
    .argument('<text>', 'complete, except for an ICCID: its last four digits are enough')
    .addOption(new Option('--limit <n>', 'how many results at most').argParser(positiveInteger));
  withAction<{ limit?: number }>(command, async ({ client, out }, { limit }, [text = '']) => {
    const { data } = await client.search(text, limit === undefined ? {} : { limit });
    if (out.isJson) for (const result of data) out.json(result);
    else if (data.length > 0) createTable(out, columns)(data);
    else
      out.note(
        'Nothing found. Ids, references and idempotency keys must be complete; of an ICCID the last four digits are enough.',
      );
  });
}
