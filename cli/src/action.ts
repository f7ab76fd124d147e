import { ApiError, createSimplane, type Simplane } from '@simplane/sdk';
import type { Command } from 'commander';
import { explain } from './explain.ts';
import { clean, cleanJson } from './print/clean.ts';
import { createOutput, type Output } from './print/output.ts';
import { type GlobalOptions, readSettings, type Settings } from './settings.ts';

export type Context = { client: Simplane; settings: Settings; out: Output };

// Few retries: a person is waiting, and an unreachable address should fail within a second.
const clientOptions = { maxRetries: 2, timeoutMs: 30_000 };

/** Runs a command with an API client. Errors become a message, a next step and an exit code. */
export function withAction<Options extends object>(
  command: Command,
  act: (context: Context, options: Options, args: string[]) => Promise<void>,
): Command {
  return command.action(async () => {
    const options: GlobalOptions = command.optsWithGlobals();
    const out = createOutput(options.json === true);
    let settings: Settings | null = null;
    try {
      settings = readSettings(options);
      const { apiKey, baseUrl } = settings;
      const client = createSimplane({ apiKey, baseUrl, ...clientOptions });
      await act({ client, settings, out }, options as Options, command.args);
    } catch (error) {
      const group = (command.parent?.parent ? command.parent : command).name();
      await reportError(out, error, { group, settings });
    }
  });
}

async function reportError(
  out: Output,
  error: unknown,
  context: Parameters<typeof explain>[1],
): Promise<void> {
  const { message, nextStep, exitCode, idempotencyKey } = await explain(error, context);
  process.exitCode = exitCode;
  const api = error instanceof ApiError ? error : null;
  if (out.isJson) {
    const { type, code, param, requestId } = api ?? {};
    const fields = { type, code, message, param, request_id: requestId, idempotency_key: idempotencyKey };
    out.error(cleanJson({ error: { ...fields, next_step: nextStep, exit_code: exitCode } }));
    return;
  }
  const { red, dim } = out.noteColors;
  const details = [api?.code, api?.requestId].filter((detail) => detail !== undefined).join(', ');
  out.error(`${red('Error:')} ${clean(message)}${details ? dim(` (${clean(details)})`) : ''}`);
  if (nextStep) out.error(clean(nextStep));
}
