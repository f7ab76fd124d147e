import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { time } from '../print/format.ts';
import { printResource } from '../print/table.ts';

export function addWhoami(program: Command): void {
  const command = program
    .command('whoami')
    .description('show the account, scopes and base URL of your API key');
  withAction(command, async ({ client, settings, out }) => {
    const identity = await client.me();
    const { account, api_key: key, mode, api_version: version } = identity;
    printResource(out, identity, [
      ['Account', account ? `${account.name} (${account.id})` : 'none: this is an operator’s key'],
      ['Key', `${key.name} …${key.last4} (${key.id}), from ${settings.keySource}`],
      ['Scopes', key.scopes.join(', ')],
      ['Created', time(key.created)],
      ['Mode', mode],
      ['Base URL', `${settings.baseUrl}, from ${settings.baseUrlSource}`],
      ['API version', version],
    ]);
  });
}
