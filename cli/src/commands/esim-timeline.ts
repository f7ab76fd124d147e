import type { TimelineEntry } from '@simplane/sdk';
import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Column } from '../print/table.ts';

const columns: Column<TimelineEntry>[] = [
  { title: 'TIME', value: ({ created }) => time(created) },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'WHAT', value: ({ title }) => title, cutTo: 24 },
  { title: 'STATUS', value: ({ status }) => status ?? '', paint: paintStatus },
  { title: 'WEBHOOKS', value: describeDeliveries, isSecondary: true },
  { title: 'ID', value: ({ id }) => id },
];

export function addEsimTimeline(esims: Command): void {
  const timeline = withListOptions(
    esims
      .command('timeline')
      .description('list what happened to an eSIM, newest first')
      .argument('<iccid>', 'ICCID of the eSIM'),
  );
  withAction<{ limit: number; all?: boolean }>(timeline, ({ client, out }, options, [iccid = '']) =>
    printList(out, options, (query) => client.esims.timeline(iccid, query), {
      columns,
      empty: 'No entries.',
    }),
  );
}

/** `2 sent, 1 failed`: only the counts above zero. */
function describeDeliveries({ deliveries }: TimelineEntry): string {
  if (!deliveries) return '';
  const counts = [
    [deliveries.succeeded, 'sent'],
    [deliveries.pending, 'pending'],
    [deliveries.failed, 'failed'],
  ] as const;
  const shown = counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`);
  return shown.length > 0 ? shown.join(', ') : none;
}
