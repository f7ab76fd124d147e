import { usageIntervals } from '@simplane/contract';
import type { EsimUsage } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { bytes, time } from '../print/format.ts';
import { type Column, createTable } from '../print/table.ts';
import { readTime } from '../read-time.ts';

const columns: Column<EsimUsage['points'][number]>[] = [
  { title: 'FROM', value: ({ start }) => time(start) },
  { title: 'USED', value: ({ used_bytes }) => bytes(used_bytes), isRight: true },
];

type Options = { interval?: EsimUsage['interval']; since?: number; until?: number };

export function addEsimUsage(esims: Command): void {
  const usage = esims
    .command('usage')
    .description('data used by an eSIM, by day or hour')
    .argument('<iccid>', 'ICCID of the eSIM')
    .addOption(new Option('--interval <interval>', 'default: day').choices([...usageIntervals]))
    .addOption(new Option('--since <time>', 'start: 7d (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'end; default now').argParser(readTime));
  withAction<Options>(usage, async ({ client, out }, { interval, since, until }, [iccid = '']) => {
    const answer = await client.esims.usage(iccid, {
      ...(interval && { interval }),
      ...(since !== undefined && { from: since }),
      ...(until !== undefined && { until }),
    });
    if (out.isJson) return out.json(answer);
    const used = answer.points.filter(({ used_bytes }) => used_bytes > 0);
    if (used.length > 0) createTable(out, columns)(used);
    const window = `from ${time(answer.from)} to ${time(answer.until)}`;
    out.note(out.noteColors.dim(`${bytes(answer.used_bytes)} used ${window}, by ${answer.interval} (UTC).`));
  });
}
