import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addCompletion } from './commands/completion.ts';
import { addEsims } from './commands/esims.ts';
import { addEvents } from './commands/events.ts';
import { addExecutions } from './commands/executions.ts';
import { addListen } from './commands/listen.ts';
import { addMcp } from './commands/mcp.ts';
import { addProducts } from './commands/products.ts';
import { addTrigger } from './commands/trigger.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { addWhoami } from './commands/whoami.ts';

/** Every command there is. What a command needs beyond the parser is loaded when it runs. */
export function createProgram(): Command {
  const program = new Command('simplane')
    .description('The Simplane API from a terminal.')
    .version(version(), '-V, --version', 'print the version')
    .option('--api-key <key>', 'instead of SIMPLANE_API_KEY, which `ps` does not show')
    .option('--base-url <url>', 'instead of SIMPLANE_BASE_URL; the sandbox on this machine when left out')
    .option('--json', 'for programs: one JSON document a line')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help')
    .configureHelp({ showGlobalOptions: true, subcommandDescription: describe })
    .exitOverride();

  program.commandsGroup('Order and look after eSIMs:');
  addProducts(program);
  addEsims(program);
  addExecutions(program);
  program.commandsGroup('Be told what happens:');
  addWebhooks(program);
  addEvents(program);
  addTrigger(program);
  addListen(program);
  program.commandsGroup('Set up:');
  addWhoami(program);
  addMcp(program);
  addCompletion(program);
  program.addHelpText('after', examples);
  for (const command of program.commands) pointToHelp(command, 'simplane');
  return program.showHelpAfterError('`simplane --help` shows what there is.');
}

const examples = `
Examples:
  simplane whoami
  simplane products list
  simplane esims create prod_europe_5gb_30d --wait
  simplane esims qr <iccid>
  simplane listen --forward-to 3000/webhooks
  simplane trigger esim.provisioned
`;

/** A group is worth little without the names in it. */
function describe(command: Command): string {
  const names = command.commands.map((part) => part.name());
  return names.length > 0 ? `${command.description()}: ${names.join(', ')}` : command.description();
}

/** After a mistake: one line that says where to look, instead of all of the help. */
function pointToHelp(command: Command, before: string): void {
  const path = `${before} ${command.name()}`;
  command.helpCommand(false).showHelpAfterError(`\`${path} --help\` shows how it is used.`);
  for (const part of command.commands) pointToHelp(part, path);
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
