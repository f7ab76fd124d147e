import type { InputFor } from '@simplane/contract';
import { readPageById } from '../platform/lists/read-page.ts';
import type { Context } from './context.ts';
import { presentKey } from './present-key.ts';
import { listAccountKeys } from './sql/keys.ts';

export function listApiKeys(ctx: Context, { query }: InputFor<'listApiKeys'>) {
  return readPageById(query, {
    scope: { list: 'api_keys', accountId: ctx.account.id, filters: {} },
    read: (beforeUuid, count) => listAccountKeys(ctx.db, ctx.account.uuid, beforeUuid, count),
    present: presentKey,
  });
}
