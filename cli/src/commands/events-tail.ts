import type { OperatorWebhookEvent, WebhookEvent } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { type Context, withAction } from '../action.ts';
import { followFeed, type PlaceOptions, withPlaceOptions } from '../follow-feed.ts';
import { clean } from '../print/clean.ts';
import { cutToWidth } from '../print/display-width.ts';
import { time } from '../print/format.ts';
import { type Output, untilDrained } from '../print/output.ts';
import { readEventTypes } from './webhooks.ts';

type TailOptions = PlaceOptions & { type?: string[]; allAccounts?: boolean };

export function addTail(events: Command): void {
  const tail = withPlaceOptions(
    events.command('tail').description('print events as they happen, until Ctrl-C'),
  ).addOption(
    new Option('--type <types>', 'only these types, such as esim.*,bundle.depleted').argParser(
      readEventTypes,
    ),
  );
  tail.option('--all-accounts', 'the events of all accounts, with an operator’s key');
  withAction<TailOptions>(tail, tailEvents);
}

function tailEvents(context: Context, options: TailOptions): Promise<void> {
  const { out } = context;
  const command = `simplane events tail${options.allAccounts ? ' --all-accounts' : ''}`;
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
      else out.note(out.noteColors.dim(`To continue from here: ${command} --after ${clean(cursor)}`));
    },
  });
}

function eventLine({ colors, width }: Output, event: WebhookEvent | OperatorWebhookEvent): string {
  const { id, type, created, data } = event;
  const account = 'account_id' in event ? `${clean(event.account_id ?? 'deployment')}  ` : '';
  const [at, what, facts] = [time(created), `${account}${clean(type)}`, clean(JSON.stringify(data))];
  const left = width === null ? null : width - [at, what, id].join('  ').length - 2;
  const shown = left === null ? facts : left < 8 ? '' : cutToWidth(facts, left);
  return `${colors.dim(at)}  ${what}  ${colors.dim(clean(id))}  ${shown}`.trimEnd();
}
