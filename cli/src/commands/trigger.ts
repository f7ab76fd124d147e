import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { nearest } from '../nearest.ts';
import { printEvent } from './events.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

/** `trigger`: an event of one's own making, by the path of the real ones. */
export function addTrigger(program: Command): void {
  const trigger = program
    .command('trigger')
    .description('publish a test event, with believable data (sandbox)')
    .argument('<type>', 'such as esim.provisioned')
    .option('--data <json>', 'fields that replace or join the believable ones')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { data?: string }>(trigger, async ({ client, out }, options, [type = '']) => {
    const { eventTypeNames } = await import('@simplane/contract');
    const { isEventType, sampleDataOf } = await import('../sample-event.ts');
    if (!isEventType(type)) {
      const likely = nearest(type, eventTypeNames);
      out.note(`${type} is no type of the service’s own.${likely ? ` Did you mean ${likely}?` : ''}`);
    }
    const data = { ...sampleDataOf(type), ...readData(options.data) };
    printEvent(out, await client.events.sendTest({ type, data }, keyOf(options)));
  });
}

function readData(text: string | undefined): object {
  if (text === undefined) return {};
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  } catch {}
  throw usageError(`--data takes a JSON object; got ${text}`, `Such as --data '{"iccid": "8999…"}'`);
}
