import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { time } from '../print/format.ts';
import { printThing } from '../print/table.ts';

export function addWhoami(program: Command): void {
  const command = program
    .command('whoami')
    .description('whose key this is, where it leads and what it may do');
  withAction(command, async ({ client, settings, out }) => {
    const identity = await client.me();
    const { account, api_key: key, mode, api_version: version } = identity;
    printThing(out, identity, [
      ['Account', `${account.name} (${account.id})`],
      ['Key', `${key.name} …${key.last4} (${key.id}), from ${settings.keySource}`],
      ['Scopes', key.scopes.join(', ')],
      ['Created', time(key.created)],
      ['Mode', mode],
      ['Base URL', settings.baseUrl],
      ['API version', version],
    ]);
  });
}
