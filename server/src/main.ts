import { Command } from 'commander';
import { readConfig } from './config/read-config.ts';
import type { Tools } from './operator/with-database.ts';

// Each command loads what it needs when it runs: `--help` and a mistyped word answer in a tenth of a second.

const program = new Command('simplane-server')
  .description('The Simplane service and its operator’s commands. Settings come from the environment.')
  .showHelpAfterError();

program
  .command('serve')
  .description('run the service')
  .action(async () => {
    const { config, warnings } = readConfig();
    const { serveUntilSignal } = await import('./operator/serve.ts');
    await serveUntilSignal(config, warnings);
  });

program
  .command('migrate')
  .description('bring the database’s schema up to date')
  .action(() => run(async () => void process.stdout.write('the schema is up to date\n')));

const accounts = program.command('accounts').description('accounts of this deployment');
withJson(accounts.command('create').description('create an account'))
  .requiredOption('--name <name>', 'what to call it')
  .action(async (options) => {
    const { createAccountCommand } = await import('./operator/accounts.ts');
    await run((tools) => createAccountCommand(tools, options));
  });
withJson(accounts.command('list').description('list all accounts')).action(async (options) => {
  const { listAccountsCommand } = await import('./operator/accounts.ts');
  await run((tools) => listAccountsCommand(tools, options));
});

const keys = program.command('keys').description('API keys');
withJson(keys.command('create').description('create a key and print it, once'))
  .option('--account <id>', 'the account it belongs to; may be left out when there is only one')
  .option('--name <name>', 'what to call it', 'API key')
  .option(
    '--scopes <list>',
    'comma-separated: read, write, network, admin, install (activation codes; part of write)',
    'read,write',
  )
  .option('--expires-in <duration>', 'such as 12h or 90d; never when left out')
  .action(async (options) => {
    const { createKeyCommand } = await import('./operator/keys.ts');
    await run((tools) => createKeyCommand(tools, options));
  });
withJson(keys.command('list').description('list keys, without the keys themselves'))
  .option('--account <id>', 'only those of one account')
  .action(async (options) => {
    const { listKeysCommand } = await import('./operator/keys.ts');
    await run((tools) => listKeysCommand(tools, options));
  });
withJson(keys.command('revoke').description('revoke a key; every process refuses it within 5 seconds'))
  .argument('<id>', 'the key’s id, key_…')
  .action(async (id, options) => {
    const { revokeKeyCommand } = await import('./operator/keys.ts');
    await run((tools) => revokeKeyCommand(tools, id, options));
  });

const catalog = program.command('catalog').description('products');
withJson(catalog.command('import').description('load products from a JSON file: all of it or nothing'))
  .argument('<file>', 'a list of products; docs/catalog.md shows one')
  .action(async (file, options) => {
    const { checkCatalogFile, importCatalogCommand } = await import('./operator/catalog.ts');
    const products = await checkCatalogFile(file);
    await run((tools) => importCatalogCommand(tools, products, options));
  });

withJson(
  program
    .command('reseal')
    .description('encrypt all stored secrets anew, with the first of SIMPLANE_ENCRYPTION_KEYS'),
).action(async (options) => {
  const { resealCommand } = await import('./operator/reseal.ts');
  await run(async (tools) => {
    process.exitCode = await resealCommand(tools, options);
  });
});

withJson(
  program.command('doctor').description('check settings, database and contents, and say what to mend'),
).action(async (options) => {
  const { config, warnings } = readConfig();
  const { doctorCommand } = await import('./operator/doctor.ts');
  process.exitCode = await doctorCommand(config, warnings, options);
});

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1); // whatever a failed start has opened by then goes with it
});

function withJson(command: Command): Command {
  return command.option('--json', 'for programs', false);
}

async function run(command: (tools: Tools) => Promise<void>): Promise<void> {
  const { config } = readConfig();
  const { withDatabase } = await import('./operator/with-database.ts');
  await withDatabase(config, command);
}

/** Why it failed, in words for the person at the terminal and without a stack. */
function explain(error: unknown): string {
  if (error instanceof AggregateError) return explain(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `${error.message}; set PORT to a free port, or stop what listens there`;
  return error.message;
}
