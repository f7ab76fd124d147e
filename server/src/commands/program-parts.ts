import type { Command } from 'commander';
import { readConfig } from '../config/read-config.ts';
import type { Tools } from './with-database.ts';

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON', false);
}

/** Runs a command with the deployment's database. */
export async function run(command: (tools: Tools) => Promise<void>): Promise<void> {
  const { config } = readConfig();
  const { withDatabase } = await import('./with-database.ts');
  await withDatabase(config, command);
}

/** An action that loads its command and runs it with the deployment's database, the arguments and the options. */
export function onDatabase<Given extends unknown[]>(
  load: () => Promise<(tools: Tools, ...given: Given) => Promise<void>>,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    const command = await load();
    await run((tools) => command(tools, ...given));
  };
}
