import cluster from 'node:cluster';
import { Command } from 'commander';
import { readConfig } from '../config/read-config.ts';
import { version } from '../config/version.ts';
import { defineAccounts } from './define-accounts.ts';
import { onDatabase, run, withJson } from './program-parts.ts';

/** `simplane-server`. Each command imports its code when it runs, so `--help` and usage errors take only 0.1 s. */
export function createProgram(): Command {
  const program = new Command('simplane-server')
    .description('The Simplane service and its operator commands. Settings come from the environment.')
    .version(version, '-V, --version', 'print the version')
    .showHelpAfterError();
  defineService(program);
  defineAccounts(program);
  defineKeys(program);
  defineExecutions(program);
  defineCore(program);
  defineCatalog(program);
  defineLooks(program);
  defineUpkeep(program);
  return program;
}

function defineService(program: Command): void {
  program
    .command('serve')
    .description('run the service')
    .action(async () => {
      const { config, warnings } = readConfig();
      if (config.processes > 1 && cluster.isPrimary) {
        const { serveProcesses } = await import('./serve-processes.ts');
        return serveProcesses(config, warnings);
      }
      const { serveUntilSignal } = await import('./serve.ts');
      await serveUntilSignal(config, warnings);
    });

  program
    .command('migrate')
    .description('migrate the database schema to the latest version')
    .action(() => run(async () => void process.stdout.write('the schema is up to date\n')));
}

function defineKeys(program: Command): void {
  const keys = program.command('keys').description('manage API keys');
  withJson(keys.command('create').description('create a key and print it; it is not shown again'))
    .option('--account <id>', 'the account it belongs to; optional if there is only one')
    .option('--name <name>', 'its name')
    .option(
      '--scopes <list>',
      'comma-separated: read, write, network, admin, install (activation codes; part of write); or operator alone',
      'read,write',
    )
    .option('--expires-in <duration>', 'such as 12h or 90d; by default it never expires')
    .option(
      '--allowed-cidrs <list>',
      'comma-separated networks it may be used from, such as 203.0.113.0/24; by default from anywhere',
    )
    .action(onDatabase(async () => (await import('./keys.ts')).createKeyCommand));
  withJson(keys.command('list').description('list keys, without their secrets'))
    .option('--account <id>', 'only the keys of this account')
    .action(onDatabase(async () => (await import('./keys.ts')).listKeysCommand));
  withJson(keys.command('revoke').description('revoke a key; every process refuses it within 5 seconds'))
    .argument('<id>', 'the key’s id, key_…')
    .action(onDatabase(async () => (await import('./keys.ts')).revokeKeyCommand));

  withJson(
    keys
      .command('roll')
      .description(
        'create a key with the same scopes and print it; the old one keeps working until it expires',
      ),
  )
    .argument('<id>', 'the key’s id, key_…')
    .option(
      '--expires-in <duration>',
      'how long the old key keeps working, up to 7d; 0s: it stops immediately',
      '1d',
    )
    .action(onDatabase(async () => (await import('./keys.ts')).rollKeyCommand));

  program
    .command('dashboard-link')
    .description('print a link to the dashboard that signs in once, within ten minutes')
    .option('--operator', 'for the operator’s view of the whole deployment', false)
    .option('--account <id>', 'the account to sign in to; optional if there is only one')
    .action(onDatabase(async () => (await import('./dashboard-link.ts')).dashboardLinkCommand));
}

function defineExecutions(program: Command): void {
  const executions = program
    .command('executions')
    .description('find, retry and resolve the executions of all accounts');
  withJson(executions.command('list').description('list executions, newest first'))
    .option('--status <status>', 'queued, running, succeeded or failed')
    .option('--error-code <code>', 'only failed ones with this code, such as outcome_unknown')
    .option('--account <id>', 'only those of this account')
    .option('--older-than <duration>', 'only those accepted at least this long ago, such as 5m')
    .option('--limit <count>', 'how many, up to 100', '20')
    .action(onDatabase(async () => (await import('./executions.ts')).listExecutionsCommand));
  withJson(
    executions.command('show').description('show an execution with its steps, call ids and last error'),
  )
    .argument('<id>', 'the execution’s id, exec_…')
    .action(onDatabase(async () => (await import('./executions.ts')).showExecutionCommand));
  withJson(executions.command('retry').description('retry a failed execution, or run a waiting one now'))
    .argument('<id>', 'the execution’s id, exec_…')
    .action(onDatabase(async () => (await import('./executions.ts')).retryExecutionCommand));
  withJson(executions.command('resolve').description('resolve an execution that failed with outcome_unknown'))
    .argument('<id>', 'the execution’s id, exec_…')
    .requiredOption('--outcome <outcome>', 'what the SM-DP+ did: reserved or not_reserved')
    .option('--iccid <iccid>', 'ICCID of the reserved profile')
    .option('--then <action>', 'adopt: continue with the reserved profile; cancel: cancel it at the SM-DP+')
    .action(onDatabase(async () => (await import('./executions.ts')).resolveExecutionCommand));
}

function defineCore(program: Command): void {
  const core = program.command('core').description('look at and repair what the core network knows of eSIMs');
  withJson(core.command('changes').description('list eSIMs whose newest state the core does not have'))
    .option('--state <state>', 'pending, or refused by the core', 'pending')
    .action(onDatabase(async () => (await import('./core.ts')).listServiceChangesCommand));
  withJson(core.command('resync').description('send the state of every eSIM to the core again')).action(
    onDatabase(async () => (await import('./core.ts')).resyncCoreCommand),
  );
}

function defineCatalog(program: Command): void {
  const catalog = program.command('catalog').description('manage the products');
  withJson(catalog.command('import').description('load products from a JSON file, all or none'))
    .argument('<file>', 'a list of products; see docs/catalog.md for an example')
    .action(async (file, options) => {
      const { checkCatalogFile, importCatalogCommand } = await import('./catalog.ts');
      const { config } = readConfig();
      const products = await checkCatalogFile(file, config);
      await run((tools) => importCatalogCommand(tools, products, options));
    });

  withJson(
    catalog.command('list').description('list all products, including unlisted and inactive ones'),
  ).action(onDatabase(async () => (await import('./catalog.ts')).listCatalogCommand));
  withJson(
    catalog
      .command('deactivate')
      .description('deactivate a product, so that it can no longer be ordered; accepted orders continue'),
  )
    .argument('<id>', 'the product’s id')
    .action(onDatabase(async () => (await import('./catalog.ts')).deactivateProductCommand));
}

function defineLooks(program: Command): void {
  const looks = [
    ['overview', 'show rates, backlogs, and the orders of the last day', 'overviewCommand'],
    ['processes', 'list the running processes', 'processesCommand'],
    ['networks', 'list the SM-DP+ and core connections as the workers see them', 'networksCommand'],
    ['stock', 'list the ICCID ranges and how long they last', 'stockCommand'],
  ] as const;
  for (const [name, description, command] of looks) {
    withJson(program.command(name).description(description)).action(
      onDatabase(async () => (await import('./look.ts'))[command]),
    );
  }

  const endpoints = program.command('endpoints').description('inspect the webhook endpoints of all accounts');
  withJson(endpoints.command('failing').description('list failing endpoints with their backlog')).action(
    onDatabase(async () => (await import('./look.ts')).failingEndpointsCommand),
  );
}

function defineUpkeep(program: Command): void {
  withJson(
    program
      .command('reseal')
      .description('re-encrypt all stored secrets with the first of SIMPLANE_ENCRYPTION_KEYS'),
  )
    .option(
      '--lost-key <id>',
      'give up a lost key: its secrets stay unreadable, but processes start without it',
    )
    .action(async (options) => {
      const { resealCommand } = await import('./reseal.ts');
      await run(async (tools) => {
        process.exitCode = await resealCommand(tools, options);
      });
    });

  withJson(
    program.command('doctor').description('check settings, network and database, and say what to fix'),
  ).action(async (options) => {
    const { config, warnings } = readConfig();
    const { doctorCommand } = await import('./doctor.ts');
    process.exitCode = await doctorCommand(config, warnings, options);
  });
}

/** The error message for the terminal, without a stack. */
export function explain(error: unknown): string {
  if (error instanceof AggregateError) return explain(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `${error.message}; set PORT to a free port, or stop the other process`;
  return error.message;
}
