import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { nearest } from '../nearest.ts';
import type { EventData } from '../sample-event.ts';
import { printEvent } from './events.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

/** `trigger`: publishes a test event; it is delivered exactly like a real one. */
export function addTrigger(program: Command): void {
  const trigger = program
    .command('trigger')
    .description('publish a test event, about an eSIM of yours if there is one (sandbox only)')
    .argument('<type>', 'event type, such as esim.provisioned')
    .option('--data <json>', 'JSON object with fields to replace or add')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { data?: string }>(trigger, async ({ client, out }, options, [type = '']) => {
    const { eventTypeNames } = await import('@simplane/contract');
    const { isEventType, sampleDataOf } = await import('../sample-event.ts');
    const { findEventFacts } = await import('../find-event-facts.ts');
    const given = readData(options.data);
    let facts: EventData | null = null;
    if (isEventType(type)) {
      facts = await findEventFacts(client, type, given);
      if (!facts) out.note(out.noteColors.dim(madeUp));
    } else {
      const suggestion = nearest(type, eventTypeNames);
      out.note(`${type} is not a built-in event type.${suggestion ? ` Did you mean ${suggestion}?` : ''}`);
    }
    const data = sampleDataOf(type, facts ?? {}, given);
    printEvent(out, await client.events.sendTest({ type, data }, keyOf(options)));
  });
}

const madeUp =
  'The account has no object for this event, so its ids are made up. `simplane esims create` orders an eSIM.';

function readData(text: string | undefined): object {
  if (text === undefined) return {};
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  } catch {}
  throw usageError(`--data must be a JSON object; got ${text}`, `Example: --data '{"iccid": "8999…"}'`);
}
