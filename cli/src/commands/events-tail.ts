import type { WebhookEvent } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { type Context, withAction } from '../action.ts';
import { followFeed, type PlaceOptions, withPlaceOptions } from '../follow-feed.ts';
import { clean } from '../print/clean.ts';
import { cutToWidth } from '../print/display-width.ts';
import { time } from '../print/format.ts';
import { type Output, untilDrained } from '../print/output.ts';
import { readEventTypes } from './webhooks.ts';

type TailOptions = PlaceOptions & { type?: string[] };

export function addTail(events: Command): void {
  const tail = withPlaceOptions(
    events.command('tail').description('print events as they happen, until Ctrl-C'),
  ).addOption(
    new Option('--type <types>', 'only these types, such as esim.*,bundle.depleted').argParser(
      readEventTypes,
    ),
  );
  withAction<TailOptions>(tail, tailEvents);
}

function tailEvents(context: Context, options: TailOptions): Promise<void> {
  const { out } = context;
  return followFeed(context, {
    ...options,
    async handle(event, stopped) {
      if (out.isJson) out.json(event);
      else out.line(eventLine(out, event));
      await untilDrained(stopped);
      return true;
    },
    onEnd(cursor) {
      if (cursor === null) return;
      if (out.isJson) out.error(JSON.stringify({ object: 'stopped', cursor }));
      else
        out.note(out.noteColors.dim(`To continue from here: simplane events tail --after ${clean(cursor)}`));
    },
  });
}

function eventLine({ colors, width }: Output, { id, type, created, data }: WebhookEvent): string {
  const [at, what, facts] = [time(created), clean(type), clean(JSON.stringify(data))];
  const left = width === null ? null : width - [at, what, id].join('  ').length - 2;
  const shown = left === null ? facts : left < 8 ? '' : cutToWidth(facts, left);
  return `${colors.dim(at)}  ${what}  ${colors.dim(clean(id))}  ${shown}`.trimEnd();
}
