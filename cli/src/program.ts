import { Command } from 'commander';
import { addApi } from './commands/api.ts';
import { addAudit } from './commands/audit.ts';
import { addBatches } from './commands/batches.ts';
import { addBundles } from './commands/bundles.ts';
import { addCompletion } from './commands/completion.ts';
import { addConsumers } from './commands/consumers.ts';
import { addDeliveries } from './commands/deliveries.ts';
import { addEsims } from './commands/esims.ts';
import { addEvents } from './commands/events.ts';
import { addExecutions } from './commands/executions.ts';
import { addKeys } from './commands/keys.ts';
import { addListen } from './commands/listen.ts';
import { addMcp } from './commands/mcp.ts';
import { addOverview } from './commands/overview.ts';
import { addProducts } from './commands/products.ts';
import { addRequests } from './commands/requests.ts';
import { addSearch } from './commands/search.ts';
import { addSessions } from './commands/sessions.ts';
import { addSimulate } from './commands/simulate.ts';
import { addTrigger } from './commands/trigger.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { addWhoami } from './commands/whoami.ts';
import { version } from './version.ts';

/** Builds every command. Modules that only one command needs are loaded when it runs. */
export function createProgram(): Command {
  const program = new Command('simplane')
    .description('Command line for the Simplane API.')
    .version(version(), '-V, --version', 'print the version')
    .option('--api-key <key>', 'API key; prefer SIMPLANE_API_KEY, which `ps` does not show')
    .option('--base-url <url>', 'API address, overrides SIMPLANE_BASE_URL; default: the local sandbox')
    .option('--json', 'print one JSON document per line')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help')
    .configureHelp({ showGlobalOptions: true, subcommandDescription: describe })
    .exitOverride();

  program.commandsGroup('Order and manage eSIMs:');
  addProducts(program);
  addEsims(program);
  addBatches(program);
  addBundles(program);
  addExecutions(program);
  addSimulate(program);
  addOverview(program);
  addSearch(program);
  program.commandsGroup('Webhooks and events:');
  addWebhooks(program);
  addDeliveries(program);
  addEvents(program);
  addConsumers(program);
  addTrigger(program);
  addListen(program);
  program.commandsGroup('Logs:');
  addRequests(program);
  addAudit(program);
  program.commandsGroup('Everything else:');
  addApi(program);
  program.commandsGroup('Set up:');
  addWhoami(program);
  addKeys(program);
  addSessions(program);
  addMcp(program);
  addCompletion(program);
  program.addHelpText('after', examples);
  for (const command of program.commands) pointToHelp(command, 'simplane');
  return program.showHelpAfterError('`simplane --help` lists all commands.');
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

/** Appends the subcommands to a group's description. */
function describe(command: Command): string {
  const names = command.commands.map((part) => part.name());
  return names.length > 0 ? `${command.description()}: ${names.join(', ')}` : command.description();
}

/** After a usage error, prints a one-line pointer to the help instead of the full help. */
function pointToHelp(command: Command, parent: string): void {
  const path = `${parent} ${command.name()}`;
  command.helpCommand(false).showHelpAfterError(`\`${path} --help\` shows the usage.`);
  for (const part of command.commands) pointToHelp(part, path);
}
