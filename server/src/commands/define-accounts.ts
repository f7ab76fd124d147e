import type { Command } from 'commander';
import { onDatabase, withJson } from './program-parts.ts';

/** `simplane-server accounts …` */
export function defineAccounts(program: Command): void {
  const accounts = program.command('accounts').description('manage the accounts of this deployment');
  withLimits(withJson(accounts.command('create').description('create an account')))
    .requiredOption('--name <name>', 'its name')
    .action(onDatabase(async () => (await import('./accounts.ts')).createAccountCommand));
  withJson(accounts.command('list').description('list all accounts')).action(
    onDatabase(async () => (await import('./accounts.ts')).listAccountsCommand),
  );

  withLimits(withJson(accounts.command('update').description('change an account, suspend or reactivate it')))
    .argument('<id>', 'the account’s id, acct_…')
    .option('--name <name>', 'its new name')
    .option('--status <status>', 'active, or suspended: it can then read and revoke keys, but not write')
    .action(onDatabase(async () => (await import('./accounts.ts')).updateAccountCommand));

  defineEndings(accounts);
}

/** What an account ends with, here or altogether. */
function defineEndings(accounts: Command): void {
  withJson(
    accounts
      .command('close')
      .description('close an account for good: its keys, sessions, endpoints and open orders end'),
  )
    .argument('<id>', 'the account’s id, acct_…')
    .option('--terminate-esims', 'also terminate its eSIMs', false)
    .action(onDatabase(async () => (await import('./accounts.ts')).closeAccountCommand));

  withJson(
    accounts
      .command('erase')
      .description('erase the personal data of a closed account; run it again to see whether it is finished'),
  )
    .argument('<id>', 'the account’s id, acct_…')
    .action(onDatabase(async () => (await import('./accounts.ts')).eraseAccountCommand));
  accounts
    .command('move')
    .description('move an account to another cell; run it again if it was interrupted (docs/cells.md)')
    .argument('<id>', 'the account’s id, acct_…')
    .requiredOption('--to <url>', 'the PostgreSQL of the other cell')
    .option(
      '--from <url>',
      'where the other cell’s PostgreSQL reaches that of this one; default: DATABASE_URL',
    )
    .option('--undo', 'put everything back, as long as the account is not in the other cell', false)
    .action(onDatabase(async () => (await import('./move/move.ts')).moveAccountCommand));
  accounts
    .command('export')
    .description('write an account, its eSIMs, orders, bundles, usage, events and audit log as lines of JSON')
    .argument('<id>', 'the account’s id, acct_…')
    .requiredOption('--out <folder>', 'a folder, which gets a file for each kind; - for standard output')
    .action(onDatabase(async () => (await import('./export-account.ts')).exportAccountCommand));
}

function withLimits(command: Command): Command {
  const none = 'or none: the deployment’s limit';
  return command
    .option('--max-webhook-endpoints <count>', `maximum number of webhook endpoints, ${none}`)
    .option(
      '--max-open-executions <count>',
      'maximum number of queued and running executions, or none: no limit',
    )
    .option('--requests-per-second <rate>', `requests per second of all its keys together, ${none}`);
}
