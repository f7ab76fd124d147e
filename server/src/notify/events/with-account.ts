import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../platform/ids/uuid.ts';

/** An event as the operator gets it: the stored bytes with the account in front. Null if it is about the deployment itself. */
export function withAccount(body: string, accountUuid: string | null): string {
  const account = accountUuid === null ? 'null' : `"${idOfUuid(idPrefixes.account, accountUuid)}"`;
  return `{"account_id":${account},${body.slice(1)}`;
}
