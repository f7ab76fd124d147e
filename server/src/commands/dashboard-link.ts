import { type AccountScope, accountScopes, type Scope } from '@simplane/contract';
import type { Mode } from '../accounts/api-key-text.ts';
import { issueKey } from '../accounts/issue-key.ts';
import { createLink, linkMs } from '../accounts/sessions/create-link.ts';
import { sessionMs } from '../accounts/sessions/start-session.ts';
import { isOpen, listAccountRows } from '../accounts/sql/accounts.ts';
import { accountOf } from './account-of.ts';
import { CommandError } from './command-error.ts';
import { readAddress } from './sandbox-address.ts';
import type { Tools } from './with-database.ts';

type Options = { operator: boolean; account?: string };

/**
 * Prints a link that signs in once, for an operator or for an account. A session belongs to a key, so each link gets a new key, which
 * is never shown and expires with the longest session.
 */
export async function dashboardLinkCommand(tools: Tools, options: Options): Promise<void> {
  const { config, db, clock } = tools;
  if (config.dashboard === 'off')
    throw new CommandError('the dashboard is off; set SIMPLANE_DASHBOARD=on to use it');
  const scopes: Scope[] = options.operator ? ['operator'] : scopesInAccount(config.mode);
  if (options.operator && options.account !== undefined)
    throw new CommandError('choose --operator or --account, not both');
  const wanted = {
    accountUuid: options.operator ? null : await accountFor(tools, options.account),
    name: 'Dashboard link',
    scopes,
    allowedCidrs: [],
    expiresAt: new Date(clock.nowMs() + linkMs + sessionMs({ scopes })),
  };
  const path = await db.transaction(async (tx) => {
    const { row } = await issueKey(tx, tools, wanted);
    return createLink(tx, tools, row.id);
  });
  const running = config.mode === 'sandbox' ? await readAddress(config.dataDir) : null;
  const address = config.publicUrl ?? running ?? `http://127.0.0.1:${config.port}`;
  process.stdout.write(`${address}${path}\n`);
  process.stderr.write('The link works once, within ten minutes.\n');
}

/** In live, `network` reports the usage of every account's eSIMs, and an admin could create a lasting key with it. */
function scopesInAccount(mode: Mode): AccountScope[] {
  return accountScopes.filter((scope) => mode === 'sandbox' || scope !== 'network');
}

/** In a sandbox without a choice: the account of its own key, which is the oldest. */
async function accountFor(tools: Tools, id: string | undefined): Promise<string> {
  if (id !== undefined || tools.config.mode === 'live') return accountOf(tools, id);
  const oldest = (await listAccountRows(tools.db)).find(isOpen);
  return oldest?.id ?? accountOf(tools, id);
}
